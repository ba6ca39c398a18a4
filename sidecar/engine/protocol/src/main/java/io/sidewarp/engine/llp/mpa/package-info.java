// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Marker PDU Aligned Framing for TCP (RFC 5044) as a state machine. Bytes of a TCP stream go in, bytes of a TCP stream
 * come out, and ULPDUs pass between them. No I/O, no threads, no timers. The owner of the socket drives
 * {@link io.sidewarp.engine.llp.mpa.MpaConnection} and implements {@link io.sidewarp.engine.llp.mpa.MpaTransport}.
 *
 * <p>The package supports MPA revision 1, and revision 2 as RFC 6581 defines it, with version 1 of DDP and RDMAP. If
 * the policy permits, it also supports revision 0 with version 0 for RDMAC peers. In the words of RFC 5044 Appendix C,
 * this makes it a permissive IETF endpoint. FPDUs are passed up in order only. Markers therefore give the receiver only
 * a consistency check, and are not requested by default.
 */
package io.sidewarp.engine.llp.mpa;
