"""Reads TensorBoard's event files, from the description of their format alone."""
import os
import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C


def unmasked(masked):
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def records(data):
    """Raises where a length or a checksum is wrong, or where the end is cut off."""
    at = 0
    while at < len(data):
        (length, of_length) = struct.unpack_from("<QI", data, at)
        if unmasked(of_length) != crc32c(data[at:at + 8]):
            raise ValueError(f"the length at {at} is damaged")
        content = data[at + 12:at + 12 + length]
        (of_content,) = struct.unpack_from("<I", data, at + 12 + length)
        if unmasked(of_content) != crc32c(content):
            raise ValueError(f"the record at {at} is damaged")
        yield content
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not byte & 0x80:
            return value, at


def fields(data):
    """Number -> the values of a message of Protocol Buffers, as they are in it."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            if wire == 2:
                size, at = varint(data, at)
            else:
                size = {1: 8, 5: 4}[wire]
            value, at = data[at:at + size], at + size
        out.setdefault(number, []).append(value)
    return out


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def value_of(value):
    if 2 in value:
        return struct.unpack("<f", value[2][0])[0]
    if 4 in value:
        image = fields(value[4][0])
        return {"height": image[1][0], "width": image[2][0], "channels": image[3][0], "png": image[4][0]}
    histogram = fields(value[5][0])
    names = ("min", "max", "num", "sum", "sum_squares")
    return {**{name: doubles(histogram[i + 1][0])[0] for i, name in enumerate(names)},
            "limits": doubles(histogram[6][0]), "counts": doubles(histogram[7][0])}


def read_events(directory):
    """[(step, tag, value)] of the event files in it."""
    out = []
    for name in sorted(os.listdir(directory)):
        assert name.startswith("events.out.tfevents."), name
        with open(os.path.join(directory, name), "rb") as file:
            first, *rest = records(file.read())
        assert fields(first)[3] == [b"brain.Event:2"], first
        for one in map(fields, rest):
            assert doubles(one[1][0])[0] > 0
            for value in map(fields, fields(one[5][0])[1]):
                out.append((one[2][0], value[1][0].decode(), value_of(value)))
    return out
