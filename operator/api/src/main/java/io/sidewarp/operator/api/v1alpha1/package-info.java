// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The custom resources of {@code sidewarp.io/v1alpha1}. The definitions that the API server gets are generated from these
 * classes, so what is written here in {@link com.fasterxml.jackson.annotation.JsonPropertyDescription} is what
 * {@code kubectl explain} shows, and the constraints are those that the API server holds.
 */
@NullMarked
package io.sidewarp.operator.api.v1alpha1;

import org.jspecify.annotations.NullMarked;
