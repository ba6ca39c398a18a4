// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

/**
 * What the operator brings to each sidecar.
 *
 * @param image container image, for profiles that name none
 * @param operatorVersion version of the operator, which the pod is annotated with
 */
public record SidecarImage(String image, String operatorVersion) {}
