// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The settings of the sidecar, and what is checked of them before it starts. docs/configuration.md is their
 * documentation.
 */
@NullMarked
package io.sidewarp.service.config;

import org.jspecify.annotations.NullMarked;
