// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The custom resources of {@code sidewarp.io/v1alpha1}. Their definitions for the API server are generated from these
 * classes. {@code kubectl explain} shows the text of {@link com.fasterxml.jackson.annotation.JsonPropertyDescription},
 * and the API server enforces the constraints.
 */
@NullMarked
package io.sidewarp.operator.api.v1alpha1;

import org.jspecify.annotations.NullMarked;
