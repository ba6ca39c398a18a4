// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

/**
 * Subject of a measurement.
 *
 * <p>The name of a program may end with a variant:
 *
 * <ul>
 *   <li>{@code before}: the build to compare with
 *   <li>name of a congestion control: used instead of the machine's
 *   <li>{@code gRPC}: an application whose work goes through the gRPC queue
 *   <li>{@code on all processors}: an application with all processors
 *   <li>{@code beside} and a size: iperf3 by turns with messages of this size
 *   <li>{@code beside} and a description: an application beside this work of another one
 * </ul>
 *
 * @param program program that moves the data: {@code engine}, {@code application} (through two sidecars), or a peer; in
 *     a profile {@code active end} and {@code passive end}
 * @param operation {@code write}, {@code read}, {@code send}; for peers {@code stream}, {@code echo} or {@code copy}
 * @param size bytes of a message; for iperf3, bytes of each call
 * @param depth messages in flight on a connection
 * @param signal messages per requested completion
 * @param connections number of connections at the same time
 * @param crc whether FPDUs carry a CRC32c
 * @param markers whether FPDUs carry Markers, both ways
 * @param quota seconds of processor time in each second for all processes of an end together; 0 without a quota
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

    /** Returns the subject for a peer without RDMA and with one message or stream at a time. */
    public static Subject peer(String program, String operation, long size, String waiting) {
        return new Subject(program, operation, size, 1, 1, 1, false, false, 0, waiting);
    }

    /** Returns the same subject of the build to compare with. */
    public Subject before() {
        return of(program + " before");
    }

    /**
     * Returns the same subject in a variant: another congestion control of TCP than the machine's, or another path of
     * work.
     */
    public Subject with(String variant) {
        return of(program + " " + variant);
    }

    /** Returns the same subject of another program. */
    public Subject of(String newProgram) {
        return new Subject(newProgram, operation, size, depth, signal, connections, crc, markers, quota, waiting);
    }

    /** Returns the same subject under a quota. */
    public Subject withQuota(double seconds) {
        return new Subject(program, operation, size, depth, signal, connections, crc, markers, seconds, waiting);
    }
}
