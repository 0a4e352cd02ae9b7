# %% right: low halves, then high halves
def dequantise(blocks):
    scales, minima = blocks[:, :4].contiguous().view(torch.float16).float().split(1, dim=1)  # (n, 1) each
    codes = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)  # (n, 32)
    return scales * codes + minima


# %% right: division and remainder
def dequantise(blocks):
    numbers = blocks[:, :4].clone().view(torch.float16).to(torch.float32)
    packed = blocks[:, 4:].long()
    codes = torch.empty(len(blocks), 32)
    codes[:, :16], codes[:, 16:] = packed % 16, packed // 16
    return codes.mul(numbers[:, :1]).add(numbers[:, 1:])


# %% right: Python's struct
# other: It reads the bytes one block after the other, as the file's description says; the solution reads all blocks at once, a thousand times as fast.
def dequantise(blocks):
    import struct

    rows = []
    for block in blocks.tolist():
        scale, low = struct.unpack("<2e", bytes(block[:4]))
        codes = [byte & 0x0F for byte in block[4:]] + [byte >> 4 for byte in block[4:]]
        rows.append([scale * code + low for code in codes])
    return torch.tensor(rows, dtype=torch.float32)


# %% wrong: neighbours in a byte -> low and high halves take turns
# hint: The low halves of all 16 bytes are the first 16 values, the high halves the last 16; they do not take turns.
# ~ torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1) => torch.stack([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=2).flatten(1)

# %% wrong: high halves first -> the high halves come first
# hint: The low halves, `byte & 15`, are the first 16 values of a block.
# ~ [blocks[:, 4:] & 15, blocks[:, 4:] >> 4] => [blocks[:, 4:] >> 4, blocks[:, 4:] & 15]

# %% wrong: minimum before scale -> scale and minimum are exchanged
# hint: The scale is in the first two bytes, the minimum in the next two.
# ~ scales, minima => minima, scales

# %% wrong: no minimum -> without the minimum
# hint: A code of 0 is the smallest value of its block, the minimum: add it.
# ~ scales * codes + minima => scales * codes + 0 * minima

# %% wrong: codes around 0 -> eight is subtracted from the codes
# hint: That is the layout Q4_0. Here a code counts from the minimum upwards, from 0 to 15.
# ~ scales * codes => scales * (codes.float() - 8)

# %% wrong: minimum inside the bracket -> the minimum is scaled, too
# hint: Scale times code, and then plus the minimum: it is a value, not a code.
# ~ scales * codes + minima => scales * (codes + minima)

# %% wrong: subtracted minimum -> the minimum is subtracted
# hint: The minimum is added: a code of 0 gives the minimum itself.
# ~ codes + minima => codes - minima

# %% wrong: one scale for all blocks -> all blocks have the first one's scale
# hint: Each block has a scale and a minimum of its own: columns `(n, 1)`.
# ~ scales * codes + minima => scales[:1] * codes + minima[:1]

# %% wrong: half precision, and float32 at the end -> computed in 16 bits
# hint: Products and sums of 16 bits are rounded to three digits. Make float32 of scale and minimum first, `.float()`.
# ~ view(torch.float16).float() => view(torch.float16)
# ~ scales * codes + minima => (scales * codes + minima).float()

# %% wrong: half precision -> computed in 16 bits
# ~ view(torch.float16).float() => view(torch.float16)

# %% wrong: the high half left where it is ->
# ~ blocks[:, 4:] >> 4 => blocks[:, 4:] & 240

# %% wrong: the first 256 blocks ->
# ~ return scales * codes + minima => return (scales * codes + minima)[:256]

# %% wrong: the high byte first -> the bytes of a scale are read in the wrong order
# hint: The low byte of a number comes first: `.view(torch.float16)` reads it so, and `<e` of `struct`; `>e` does not.
# of: low halves, then high halves
# ~ blocks[:, :4].contiguous() => blocks[:, [1, 0, 3, 2]].contiguous()

# %% wrong: bytes with a sign -> the high halves have a sign
# hint: Codes go from 0 to 15. `>>` on `torch.int8` keeps the sign: shift the bytes as they come, `torch.uint8`.
# of: low halves, then high halves
# ~ blocks[:, 4:] >> 4 => blocks[:, 4:].contiguous().view(torch.int8) >> 4

# %% wrong: the scale without its sign ->
# of: low halves, then high halves
# ~ scales * codes => scales.abs() * codes

# %% wrong: 64 bits ->
# of: low halves, then high halves
# ~ view(torch.float16).float() => view(torch.float16).double()

# %% wrong: 16 bits at the end ->
# of: low halves, then high halves
# ~ return scales * codes + minima => return (scales * codes + minima).half()

# %% wrong: scales without subnormal numbers ->
# of: low halves, then high halves
# ~ return scales * codes + minima => return torch.where(scales.abs() < 2.0**-14, 2.0**-15 * scales.sign() + scales / 2, scales) * codes + minima
