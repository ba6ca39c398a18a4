// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/** Order of messages. */
public enum Mode {
    /** As many messages as possible, with a given number in flight. */
    STREAM,
    /** One message there and one back; for Reads, one at a time. */
    PING_PONG
}
