// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;

/** Two streams connected by a link. */
public final class StreamPair implements AutoCloseable {

    private Endpoint left;
    private Endpoint right;
    private final Link link;

    /** Connects two streams with default options. */
    public StreamPair(Link.Type type) {
        this(type, EndpointOptions.defaults(), EndpointOptions.defaults());
    }

    /**
     * Connects two streams. Where the lower layer wants the initiator to speak first (RFC 5044 section 7.1.2 rule 4),
     * that has happened when this returns.
     */
    public StreamPair(Link.Type type, EndpointOptions leftOptions, EndpointOptions rightOptions) {
        link = type.connect(llp -> makeLeft(llp, leftOptions), llp -> makeRight(llp, rightOptions));
        if (!link.end(Link.Side.RIGHT).outputPermitted()) {
            left.write(0).unsignaled().post();
            link.run();
        }
    }

    private UpperLayer makeLeft(LowerLayer llp, EndpointOptions options) {
        left = new Endpoint(llp, options);
        return left.stream();
    }

    private UpperLayer makeRight(LowerLayer llp, EndpointOptions options) {
        right = new Endpoint(llp, options);
        return right.stream();
    }

    public Endpoint left() {
        return left;
    }

    public Endpoint right() {
        return right;
    }

    public Link link() {
        return link;
    }

    /** Moves everything that can move. */
    public void run() {
        link.run();
    }

    @Override
    public void close() {
        left.close();
        right.close();
    }
}
