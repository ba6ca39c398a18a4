// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Marker PDU Aligned Framing for TCP (RFC 5044) as a state machine: bytes of a TCP stream in, bytes of a TCP stream
 * out, and ULPDUs in between. No I/O, no threads, no timers; whoever owns the socket drives
 * {@link io.sidewarp.engine.llp.mpa.MpaConnection} and implements {@link io.sidewarp.engine.llp.mpa.MpaTransport}.
 *
 * <p>MPA revision 1, and 2 as RFC 6581 has it, with DDP and RDMAP version 1; and, as far as the policy permits, revision 0
 * with version 0 for RDMAC peers, which makes this a permissive IETF endpoint in the words of RFC 5044 Appendix C. FPDUs are
 * passed up in order only, so Markers help the receiver with nothing but a consistency check and are not asked for by
 * default.
 */
package io.sidewarp.engine.llp.mpa;
