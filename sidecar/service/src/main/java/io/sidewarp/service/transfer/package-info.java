// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Work requests from the API to the engine, and completions back, on the session's thread. A simple call (Write, Read,
 * Send, Receive, Perform) is one {@code WorkItem}. A {@code QueueCallHandler} and a {@code WorkRingReader} post many. In
 * all cases {@code WorkPoster} finds the regions and posts to the queue pair. {@code PolledWork} polls the completion
 * queue and finds the origin of each completion in {@code WorkSlots}. A {@code CompletionTarget} takes the completion to
 * its caller. Except for inline entries of rings, payload never passes through this package.
 */
@NullMarked
package io.sidewarp.service.transfer;

import org.jspecify.annotations.NullMarked;
