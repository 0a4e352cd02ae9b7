# %% right: part by part
def translator_total():
    attention = 4 * (D**2 + D)
    feed_forward = 2 * (D**2 + D)
    norm = 2 * D
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return S * D + V * D + M * (encoder_layer + decoder_layer) + V * D + V


# %% right: expanded
def translator_total():
    return S * D + 2 * V * D + V + 16 * M * D**2 + 26 * M * D


# %% right: as a sum of a list
def translator_total():
    encoder = M * (6 * D**2 + 10 * D)
    decoder = M * (10 * D**2 + 16 * D)
    return sum([(S + V) * D, encoder, decoder, V * (D + 1)])


# %% wrong: two encoders -> the decoder is taken for a second encoder
def translator_total():
    return (S + V) * D + 2 * M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: two norms in the decoder -> the norm of the cross-attention is lost
def translator_total():
    encoder_layer = 6 * D**2 + 10 * D
    return (S + V) * D + M * (2 * encoder_layer + 4 * D**2 + 4 * D) + V * (D + 1)


# %% wrong: cross-attention without biases -> the biases of the cross-attention are lost
def translator_total():
    encoder_layer = 6 * D**2 + 10 * D
    decoder_layer = encoder_layer + 4 * D**2 + 2 * D
    return (S + V) * D + M * (encoder_layer + decoder_layer) + V * (D + 1)


# %% wrong: one embedding -> one embedding in place of two
def translator_total():
    return S * D + M * (16 * D**2 + 26 * D) + V * (D + 1)


# %% wrong: no head -> the head is lost
def translator_total():
    return (S + V) * D + M * (16 * D**2 + 26 * D)


# %% wrong: head without bias -> the head has no bias
def translator_total():
    return (S + 2 * V) * D + M * (16 * D**2 + 26 * D)


# %% wrong: head of the source -> the head gives words of the source
def translator_total():
    return (S + V) * D + M * (16 * D**2 + 26 * D) + S * (D + 1)


# %% wrong: A times the projections that a head has -> the heads multiply the weights
def translator_total():
    per_head = 3 * (D**2 + D)  # query, key, value
    attention = A * per_head + D**2 + D
    feed_forward = 2 * (D**2 + D)
    layers = M * (3 * attention + 2 * feed_forward + 10 * D)
    return (S + V) * D + layers + V * (D + 1)


# %% wrong: one encoder layer -> M layers in the decoder only
def translator_total():
    return (S + V) * D + 6 * D**2 + 10 * D + M * (10 * D**2 + 16 * D) + V * (D + 1)


# %% wrong: a number ->
def translator_total():
    return 156_000


# %% wrong: F = 4D ->
def translator_total():
    return (S + V) * D + M * (28 * D**2 + 32 * D) + V * (D + 1)


# %% wrong: one embedding where both vocabularies have the same size ->
def translator_total() -> sympy.Expr:
    embeddings = sympy.Piecewise((S * D, sympy.Eq(S, V)), ((S + V) * D, True))
    encoder_layer = 6 * D**2 + 10 * D
    decoder_layer = encoder_layer + 4 * D**2 + 6 * D
    head = D * V + V
    return embeddings + M * (encoder_layer + decoder_layer) + head


# %% wrong: twelve matrices more for each further head -> matrices for each head
def translator_total():
    layers = 6 * D**2 + 10 * D + 10 * D**2 + 16 * D + 12 * D**2 * (A - 1)
    return (S + V) * D + M * layers + D * V + V


# %% wrong: M is forgotten -> one layer in place of M
def translator_total():
    return (S + V) * D + 6 * D**2 + 10 * D + 10 * D**2 + 16 * D + D * V + V
