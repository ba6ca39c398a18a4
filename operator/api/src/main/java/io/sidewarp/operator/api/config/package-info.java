// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** What the settings of the programs have in common. */
@NullMarked
package io.sidewarp.operator.api.config;

import org.jspecify.annotations.NullMarked;
