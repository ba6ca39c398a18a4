// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Settings of the sidecar, and the checks before its start. The sidecar and the controller of the operator share them.
 * docs/configuration.md documents the settings.
 */
@NullMarked
package io.sidewarp.settings;

import org.jspecify.annotations.NullMarked;
