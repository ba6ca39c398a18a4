// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.AtomicUnit;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.memory.StagTable;

/**
 * Parts and limits of a stream.
 *
 * @param user the stream as a user of regions
 * @param ird inbound RDMA Read Requests and Atomic Requests that are taken at a time, 0 for none
 * @param ord outbound RDMA Read Requests and Atomic Requests at a time, 0 for none
 * @param maxShortSegments most short segments that an inbound message may have before its last segment
 * @param atomics unit that carries out the Atomic Requests of all streams of the device
 * @param extensions whether the messages of RFC 7306 are in use
 */
public record StreamSettings(
        RegionUser user,
        StagTable stags,
        WqeQueue sendQueue,
        Receives receives,
        int ird,
        int ord,
        int maxShortSegments,
        AtomicUnit atomics,
        boolean extensions,
        CompletionSink completions,
        StreamListener listener) {}
