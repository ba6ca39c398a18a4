// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Common code for the settings of the programs. */
@NullMarked
package io.sidewarp.operator.api.config;

import org.jspecify.annotations.NullMarked;
