// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

/**
 * Contribution of the operator to each sidecar.
 *
 * @param image container image for profiles that name none
 * @param operatorVersion version of the operator for the annotation of the pod
 */
public record SidecarImage(String image, String operatorVersion) {}
