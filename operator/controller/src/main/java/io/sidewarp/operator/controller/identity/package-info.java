// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Identities of sidecars: the CA of the controller, and the service that signs certificates. */
@NullMarked
package io.sidewarp.operator.controller.identity;

import org.jspecify.annotations.NullMarked;
