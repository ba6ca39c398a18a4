// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Writes the definitions of the custom resources from their classes, when the module is built. */
@NullMarked
package io.sidewarp.operator.api.definitions;

import org.jspecify.annotations.NullMarked;
