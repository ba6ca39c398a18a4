// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.StreamPair;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.StreamError;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two streams over a kind of link. Their results must not depend on the lower layer. */
abstract class PairSuite {

    /** Octets of the larger messages. */
    protected static final int SIZE = 100_000;

    private final Link.Type type;
    private StreamPair pair;

    PairSuite(Link.Type type) {
        this.type = type;
    }

    @BeforeEach
    void connect() {
        disconnect();
        pair = new StreamPair(type);
    }

    @AfterEach
    void disconnect() {
        if (pair != null) {
            pair.close();
        }
    }

    protected StreamPair pair() {
        return pair;
    }

    protected Endpoint left() {
        return pair.left();
    }

    protected Endpoint right() {
        return pair.right();
    }

    protected static void assertSame(MemoryRegion actual, byte[] expected) {
        assertThat(Arrays.mismatch(TestMemory.get(actual), expected))
                .as("first octet that differs")
                .isEqualTo(-1);
    }

    protected static void assertAllSucceeded(Endpoint endpoint) {
        assertThat(endpoint.completions().sendStatuses()).containsOnly(CqeStatus.SUCCESS);
    }

    /** The right side found the error, and the left one was told. */
    protected void assertErrorOnBothSides(int layer, int type, int code) {
        StreamError found = right().stream().error();
        StreamError told = left().stream().error();
        assertThat(found).isNotNull();
        assertThat(new int[] {found.layer(), found.type(), found.code()}).containsExactly(layer, type, code);
        assertThat(told).isEqualTo(new StreamError(layer, type, code, found.name(), true, told.detail()));
        assertThat(left().events().states()).containsExactly(StreamState.TERMINATED, StreamState.CLOSED);
        assertThat(right().events().states()).containsExactly(StreamState.TERMINATED, StreamState.CLOSED);
    }
}
