// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.rdmap.RdmapStream;
import java.util.List;

/** One stream. The test plays its peer. */
public final class LoneStream implements AutoCloseable {

    private final WireEnd wire;
    private final Endpoint endpoint;

    public LoneStream() {
        this(EndpointOptions.defaults());
    }

    public LoneStream(EndpointOptions options) {
        this(options, new WireEnd());
    }

    /** @param wire the lower layer, set up as the test wants it */
    public LoneStream(EndpointOptions options, WireEnd wire) {
        this.wire = wire;
        endpoint = new Endpoint(wire, options);
        wire.attach(endpoint.stream());
    }

    public WireEnd wire() {
        return wire;
    }

    public Endpoint endpoint() {
        return endpoint;
    }

    public RdmapStream stream() {
        return endpoint.stream();
    }

    public RecordingSink completions() {
        return endpoint.completions();
    }

    public RecordingListener events() {
        return endpoint.events();
    }

    public TestMemory memory() {
        return endpoint.memory();
    }

    public MemoryRegion region(int length) {
        return endpoint.region(length);
    }

    /** Gives ULPDUs of the peer to the stream. */
    public void input(byte[]... ulpdus) {
        wire.input(ulpdus);
    }

    /** Lets the stream put out what it has, in as many turns as it asks for, and takes it off. */
    public List<Segment> output() {
        for (int i = 0; i < Link.MOST_TURNS; i++) {
            if (!wire.output()) {
                return wire.takeAll();
            }
        }
        throw new AssertionError("the stream does not stop asking for output");
    }

    /** {@link #output()}, which has to be one segment. */
    public Segment onlyOutput() {
        List<Segment> segments = output();
        if (segments.size() != 1) {
            throw new AssertionError("expected one segment, not " + segments);
        }
        return segments.getFirst();
    }

    @Override
    public void close() {
        endpoint.close();
    }
}
