#!/usr/bin/env python3
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Speaks MPA inside TLS with nothing but Python's standard library, in either role.

    mpa_tls_peer.py connect CA CERTIFICATE KEY PORT STAG LENGTH
        writes a greeting into a region of the listener, reads LENGTH bytes of the region back and prints them
    mpa_tls_peer.py listen CA CERTIFICATE KEY
        prints its port, accepts one connection and prints the message that it receives
"""
import socket
import ssl
import struct
import sys

ALPN = "sidewarp-mpa/1"
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
CRC_FLAG, REJECT_FLAG = 0x40, 0x20
HOST = "127.0.0.1"


def crc32c(data):
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def context(role, ca, certificate, key):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if role == "connect" else ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_verify_locations(ca)
    made.load_cert_chain(certificate, key)
    made.set_alpn_protocols([ALPN])
    return made


def read(stream, length):
    data = b""
    while len(data) < length:
        more = stream.recv(length - len(data))
        if not more:
            raise EOFError(f"end after {len(data)} of {length} bytes")
        data += more
    return data


def startup_frame(key):
    return key + struct.pack(">BBH", CRC_FLAG, 1, 0)


def read_startup_frame(stream, key):
    frame = read(stream, 20)
    if frame[:16] != key or frame[16] & REJECT_FLAG:
        raise ValueError(f"unexpected start-up frame {frame!r}")
    read(stream, struct.unpack(">H", frame[18:])[0])


def send_segment(stream, segment):
    fpdu = struct.pack(">H", len(segment)) + segment
    fpdu += bytes(-len(fpdu) % 4)
    stream.sendall(fpdu + struct.pack("<I", crc32c(fpdu)))


def read_segment(stream):
    head = read(stream, 2)
    length = struct.unpack(">H", head)[0]
    rest = read(stream, length + -(2 + length) % 4 + 4)
    if struct.pack("<I", crc32c(head + rest[:-4])) != rest[-4:]:
        raise ValueError("wrong CRC")
    return rest[:length]


def connect(tls, port, stag, length):
    with tls.wrap_socket(socket.create_connection((HOST, port))) as stream:
        assert stream.selected_alpn_protocol() == ALPN
        stream.sendall(startup_frame(REQUEST))
        read_startup_frame(stream, REPLY)
        send_segment(stream, struct.pack(">BBIQ", 0xC1, 0x40, stag, 0) + b"hello from Python")
        request = struct.pack(">IQIIQ", 7, 0, length, stag, 0)
        send_segment(stream, struct.pack(">BBIIII", 0x41, 0x41, 0, 1, 1, 0) + request)
        data = b""
        while len(data) < length:
            data += read_segment(stream)[14:]
        print(data.decode(), flush=True)
        stream.unwrap().close()


def listen(tls):
    with socket.create_server((HOST, 0)) as server:
        print(server.getsockname()[1], flush=True)
        with tls.wrap_socket(server.accept()[0], server_side=True) as stream:
            read_startup_frame(stream, REQUEST)
            stream.sendall(startup_frame(REPLY))
            print(read_segment(stream)[18:].decode(), flush=True)
            assert stream.recv(1) == b"", "close_notify"
            stream.unwrap().close()


if __name__ == "__main__":
    if len(sys.argv) != {"connect": 8, "listen": 5}.get(sys.argv[1] if sys.argv[1:] else ""):
        sys.exit(__doc__)
    settings = context(*sys.argv[1:5])
    if sys.argv[1] == "connect":
        connect(settings, *(int(value, 0) for value in sys.argv[5:8]))
    else:
        listen(settings)
