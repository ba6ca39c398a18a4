// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Verbs of the kernel's iWARP devices, RNICs and soft-iWARP (siw), through libibverbs and librdmacm.
 *
 * <p>{@link io.sidewarp.provider.kernel.KernelProvider} opens a device. Each device has one {@code VerbsLoop}, a thread
 * that waits for events of the device and of the connection manager. All connections are set up and ended on this
 * thread. Posting and polling go from the caller's thread straight to the device.
 *
 * <p>The hardware or the kernel does start-up, CRCs, Markers and segments in its own way, and they are not visible
 * here. Errors come without the numbers of a Terminate message. Tagged offsets are addresses. Operations that verbs
 * lack are refused, never imitated.
 */
@NullMarked
package io.sidewarp.provider.kernel;

import org.jspecify.annotations.NullMarked;
