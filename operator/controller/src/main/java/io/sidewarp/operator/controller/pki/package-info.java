// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Keys, certificates and PEM. */
@NullMarked
package io.sidewarp.operator.controller.pki;

import org.jspecify.annotations.NullMarked;
