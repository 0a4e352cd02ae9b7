# %% right: a list of layers and a loop
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% right: spare layers, appended one by one
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(SpareEncoderLayer(d_model, n_heads, d_feedforward))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask=mask)
        return x


# %% right: copies of one layer, reduced
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        import copy

        first = EncoderLayer(d_model, n_heads, d_feedforward)
        self.layers = nn.ModuleList(copy.deepcopy(first) for _ in range(n_layers))

    def forward(self, x, mask=None):
        from functools import reduce

        return reduce(lambda y, layer: layer(y, mask), self.layers, x)


# %% wrong: mask for layer 0 only -> the mask is dropped from the second layer on
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
            mask = None
        return x


# %% wrong: mask at the top only -> only the last layer gets the mask
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers[:-1]:
            x = layer(x)
        return self.layers[-1](x, mask)


# %% wrong: mask forgotten -> no layer gets the mask
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x)
        return x


# %% wrong: list times n -> one layer is used again and again
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward)] * n_layers)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: plain list -> the layers are in a plain list
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = [EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)]

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: not chained -> every layer reads the input anew
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            y = layer(x, mask)
        return y


# %% wrong: return inside the loop -> it stops after the first layer
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
            return x


# %% wrong: one more residual -> the layers' results are added to x again
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = x + layer(x, mask)
        return x


# %% wrong: from the top to the bottom ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for layer in reversed(self.layers):
            x = layer(x, mask)
        return x


# %% wrong: pre-norm layers ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(
            [EncoderLayer(d_model, n_heads, d_feedforward, norm_first=True) for _ in range(n_layers)]
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: the mask is dropped from the third layer on ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for number, layer in enumerate(self.layers):
            x = layer(x, mask if number < 2 else None)
        return x


# %% wrong: one layer too few ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(1, n_layers)])

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: another name for the list ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList([EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers)])

    def forward(self, x, mask=None):
        for block in self.blocks:
            x = block(x, mask)
        return x


# %% right: a sequential without its forward
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        layers = [EncoderLayer(d_model, n_heads, d_feedforward, False) for _ in range(n_layers)]
        self.layers = nn.ModuleList(layers)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: four layers at most ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x, mask=None):
        for layer in self.layers[:4]:
            x = layer(x, mask)
        return x


# %% wrong: six layers as in the paper, whatever is asked ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(6))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: the lower layers do not learn ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x, mask=None):
        for layer in self.layers[:-1]:
            x = layer(x, mask)
        return self.layers[-1](x.detach(), mask)


# %% wrong: dropout before the layers ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.dropout = nn.Dropout(0.2)
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x, mask=None):
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: the mask must be given ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: without gradients ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    @torch.no_grad()
    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% wrong: one more norm at the top ->
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, n_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_feedforward) for _ in range(n_layers))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return nn.functional.layer_norm(x, x.shape[-1:])
