// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

/** Answer to the registration of a device plugin. */
public enum RegistrationAnswer {
    /** The registration is accepted, and the plugin is called back. */
    ACCEPT,
    /** The registration fails with an error. */
    REFUSE,
    /** The registration gets no answer, as from a kubelet that hangs. */
    NONE,
    /** The registration is accepted, but the plugin is not called back. */
    FORGET
}
