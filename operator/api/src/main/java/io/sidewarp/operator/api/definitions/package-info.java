// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Generates the definitions of the custom resources from their classes during the build of the module. */
@NullMarked
package io.sidewarp.operator.api.definitions;

import org.jspecify.annotations.NullMarked;
