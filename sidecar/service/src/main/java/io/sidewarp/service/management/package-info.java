// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Health and metrics over HTTP for probes and scrapers, and the status page for people. */
@NullMarked
package io.sidewarp.service.management;

import org.jspecify.annotations.NullMarked;
