// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** An error that a Terminate message can report (RFC 5040 section 4.8). Implemented by one enum per layer. */
public interface ProtocolError {

    /** Layer of the error: 0 RDMAP, 1 DDP, 2 LLP. */
    int layer();

    /** Error type, 0 to 15. */
    int type();

    /** Error code, 0 to 255. */
    int code();

    /** Name of the error in the RFC. */
    String description();
}
