// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

/**
 * What a measurement is of.
 *
 * @param program who moves the octets: {@code engine}, {@code application} (through two sidecars), or a peer;
 *     {@code active end} and {@code passive end} of a profile; what is of the build that is compared with ends with {@code
 *     before}, what had another congestion control than the machine's with the name of that, an application whose work
 *     goes through the gRPC queue with {@code gRPC}, and one with all processors with {@code on all processors};
 *     iperf3 by turns with messages of a size ends with {@code beside} and that size, and an application beside another
 *     one's work with {@code beside} and that
 * @param operation {@code write}, {@code read}, {@code send}; of peers {@code stream}, {@code echo} or {@code copy}
 * @param size octets of a message; of iperf3 of each call
 * @param depth messages under way on a connection
 * @param signal one completion is asked for each so many messages
 * @param connections at the same time
 * @param crc whether FPDUs carry a CRC32c
 * @param markers whether FPDUs carry Markers, both ways
 * @param quota seconds of processor time in each second that all processes of an end have together; 0 without a quota
 * @param waiting how both ends wait: {@code adaptive}, {@code sleep}, {@code spin}, {@code yield}
 */
public record Subject(
        String program,
        String operation,
        long size,
        int depth,
        int signal,
        int connections,
        boolean crc,
        boolean markers,
        double quota,
        String waiting) {

    /** A peer that knows no RDMA and has one message or stream at a time. */
    public static Subject peer(String program, String operation, long size, String waiting) {
        return new Subject(program, operation, size, 1, 1, 1, false, false, 0, waiting);
    }

    /** The same of the build that another one is compared with. */
    public Subject before() {
        return of(program + " before");
    }

    /** The same in another variant: a congestion control of TCP that is not the machine's, or another path of work. */
    public Subject with(String variant) {
        return of(program + " " + variant);
    }

    /** The same of another program. */
    public Subject of(String newProgram) {
        return new Subject(newProgram, operation, size, depth, signal, connections, crc, markers, quota, waiting);
    }

    /** The same under a quota. */
    public Subject withQuota(double seconds) {
        return new Subject(program, operation, size, depth, signal, connections, crc, markers, seconds, waiting);
    }
}
