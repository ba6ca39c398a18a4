// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Regions and connections work together only when they are of the same protection domain. A session has a default one;
 * further ones keep peers apart that must not reach each other's regions.
 */
public interface ProtectionDomain extends AutoCloseable {

    /** The sidecar's number for it. */
    long id();

    /**
     * Gives it back.
     *
     * @throws SidewarpException FAILED_PRECONDITION while regions, connections or shared receive queues use it
     */
    @Override
    void close();
}
