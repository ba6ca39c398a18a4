// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

/** What becomes of the registration of a device plugin. */
public enum RegistrationAnswer {
    /** It is accepted, and the plugin is called back. */
    ACCEPT,
    /** It fails with an error. */
    REFUSE,
    /** It is not answered at all, as by a kubelet that hangs. */
    NONE,
    /** It is accepted, but the plugin is not called back. */
    FORGET
}
