// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The verbs of the kernel's iWARP devices, RNICs and soft-iWARP (siw), over libibverbs and librdmacm.
 *
 * <p>{@link io.sidewarp.provider.kernel.KernelProvider} opens a device. Each device has one {@code VerbsLoop}, a thread that
 * waits for what the device and the connection manager tell, and on which all connections are set up and ended: states
 * change there only. Posting and polling go from the caller's thread straight to the device.
 *
 * <p>What the device has in hardware, or in the kernel, it does its own way: start-up, CRCs, Markers and segments are not
 * seen here, errors come without the numbers of a Terminate message, tagged offsets are addresses. What verbs do not have is
 * refused, never imitated.
 */
@NullMarked
package io.sidewarp.provider.kernel;

import org.jspecify.annotations.NullMarked;
