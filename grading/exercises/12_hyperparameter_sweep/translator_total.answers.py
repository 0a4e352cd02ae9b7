# %% right: part by part
def translator_total():
    attention = 4 * (D**2 + D)
    feed_forward = 2 * (D**2 + D)
    norm = 2 * D
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return S * D + V * D + M * (encoder_layer + decoder_layer) + V * D + V


# %% right: expanded
# other: Expanded, it shows that `16 * M * D**2` outweighs the rest in a wide model; the solution goes part by part, so that each term can be checked.
def translator_total():
    return S * D + 2 * V * D + V + 16 * M * D**2 + 26 * M * D


# %% right: as a sum of a list
def translator_total():
    encoder = M * (6 * D**2 + 10 * D)
    decoder = M * (10 * D**2 + 16 * D)
    return sum([(S + V) * D, encoder, decoder, V * (D + 1)])


# %% wrong: two encoders -> the decoder is taken for a second encoder
# hint: A decoder layer also reads the encoder: a cross-attention of four more D x D matrices, and its norm.
def translator_total():
    return (S + V) * D + 2 * M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: twelve matrices more for each further head -> matrices for each head
# hint: The heads share the matrices of an attention: each of the four is D x D, whatever A is.
def translator_total():
    layers = 6 * D**2 + 10 * D + 10 * D**2 + 16 * D + 12 * D**2 * (A - 1)
    return (S + V) * D + M * layers + D * V + V


# %% wrong: M is forgotten -> one layer in place of M
# hint: There are M layers in the encoder and M in the decoder: multiply what one of each has by M.
def translator_total():
    return (S + V) * D + 6 * D**2 + 10 * D + 10 * D**2 + 16 * D + D * V + V


# %% wrong: two norms in the decoder -> the norm of the cross-attention is lost
# hint: Each of the three parts of a decoder layer has a norm of 2D numbers.
def translator_total():
    encoder_layer = 6 * D**2 + 10 * D
    return (S + V) * D + M * (2 * encoder_layer + 4 * D**2 + 4 * D) + V * (D + 1)


# %% wrong: cross-attention without biases -> the biases of the cross-attention are lost
# hint: Its four projections have a bias of D numbers each, as in any attention.
def translator_total():
    encoder_layer = 6 * D**2 + 10 * D
    decoder_layer = encoder_layer + 4 * D**2 + 2 * D
    return (S + V) * D + M * (encoder_layer + decoder_layer) + V * (D + 1)


# %% wrong: one embedding -> one embedding in place of two
# hint: Each language has its own embedding: S times D for the words that are read, V times D for those written; and the
# hint: head has a matrix of its own, it does not share that of an embedding.
def translator_total():
    return S * D + M * (16 * D**2 + 26 * D) + V * (D + 1)


# %% wrong: no head -> the head is lost
# hint: The head, from D to V, is the last part: V (D + 1) with its biases.
def translator_total():
    return (S + V) * D + M * (16 * D**2 + 26 * D)


# %% wrong: head without bias -> the head has no bias
# hint: A Linear from D to V has V biases.
def translator_total():
    return (S + 2 * V) * D + M * (16 * D**2 + 26 * D)


# %% wrong: head of the source -> the head gives words of the source
# hint: The model writes the target language: its head has V outputs, not S.
def translator_total():
    return (S + V) * D + M * (16 * D**2 + 26 * D) + S * (D + 1)


# %% wrong: A times the projections that a head has -> the heads multiply the weights
# hint: Heads share the rows of one matrix (notebook 05): A is not in the formula.
def translator_total():
    per_head = 3 * (D**2 + D)  # query, key, value
    attention = A * per_head + D**2 + D
    feed_forward = 2 * (D**2 + D)
    layers = M * (3 * attention + 2 * feed_forward + 10 * D)
    return (S + V) * D + layers + V * (D + 1)


# %% wrong: one encoder layer -> M layers in the decoder only
# hint: The encoder has M layers, and the decoder has M layers of its own.
def translator_total():
    return (S + V) * D + 6 * D**2 + 10 * D + M * (10 * D**2 + 16 * D) + V * (D + 1)


# %% wrong: a number ->
def translator_total():
    return 156_000


# %% wrong: one embedding where both vocabularies have the same size ->
def translator_total() -> sympy.Expr:
    embeddings = sympy.Piecewise((S * D, sympy.Eq(S, V)), ((S + V) * D, True))
    encoder_layer = 6 * D**2 + 10 * D
    decoder_layer = encoder_layer + 4 * D**2 + 6 * D
    head = D * V + V
    return embeddings + M * (encoder_layer + decoder_layer) + head
