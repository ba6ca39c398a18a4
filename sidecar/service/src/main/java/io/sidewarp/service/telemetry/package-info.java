// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Metrics and traces by OpenTelemetry; docs/telemetry.md lists them. */
@NullMarked
package io.sidewarp.service.telemetry;

import org.jspecify.annotations.NullMarked;
