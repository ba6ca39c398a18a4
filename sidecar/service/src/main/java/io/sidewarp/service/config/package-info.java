// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Settings of the sidecar, and the checks before its start. docs/configuration.md documents them. */
@NullMarked
package io.sidewarp.service.config;

import org.jspecify.annotations.NullMarked;
