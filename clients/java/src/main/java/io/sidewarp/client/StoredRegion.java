// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.UnsafeByteOperations;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.StoreHeader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;

/** A managed region: memory of the sidecar. Store and Load give access to it. */
final class StoredRegion extends RegisteredRegion implements ManagedRegion {

    /** Bytes in a piece: large enough that messages cost little, and well below the 256 KiB of a request. */
    static final int PIECE = 128 << 10;

    StoredRegion(Regions regions, RegionInfo region) {
        super(regions, region);
    }

    @Override
    public void store(long offset, ByteBuffer source) {
        try (StoreCall call = new StoreCall(regions().session(), header(offset))) {
            while (source.hasRemaining()) {
                int octets = Math.min(PIECE, source.remaining());
                // Wraps the caller's memory without a copy: the caller does not change it until this method returns.
                call.send(UnsafeByteOperations.unsafeWrap(source.slice(source.position(), octets)));
                source.position(source.position() + octets);
            }
            call.finish();
        }
    }

    @Override
    public long store(long offset, InputStream source) {
        try (StoreCall call = new StoreCall(regions().session(), header(offset))) {
            byte[] piece = source.readNBytes(PIECE);
            while (piece.length > 0) {
                call.send(UnsafeByteOperations.unsafeWrap(piece));
                piece = source.readNBytes(PIECE);
            }
            return call.finish();
        } catch (IOException e) {
            throw new UncheckedIOException("the source could not be read: " + e.getMessage(), e);
        }
    }

    @Override
    public void load(long offset, ByteBuffer target) {
        int wanted = target.remaining();
        if (wanted == 0) {
            return;
        }
        try (InputStream source = stream(offset, wanted);
                ReadableByteChannel channel = Channels.newChannel(source)) {
            while (target.hasRemaining()) {
                if (channel.read(target) < 0) {
                    throw new EOFException(
                            "the sidecar gave only " + (wanted - target.remaining()) + " of " + wanted + " bytes");
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public InputStream stream(long offset, long octets) {
        return new LoadStream(
                regions().session(),
                LoadRequest.newBuilder()
                        .setSession(regions().session().id())
                        .setRegion(id())
                        .setOffset(offset)
                        .setLength(octets)
                        .build());
    }

    @Override
    public void close() {
        deregister();
    }

    @Override
    public String toString() {
        return "ManagedRegion[" + id() + ", " + length() + " bytes]";
    }

    private StoreHeader header(long offset) {
        return StoreHeader.newBuilder()
                .setSession(regions().session().id())
                .setRegion(id())
                .setOffset(offset)
                .build();
    }
}
