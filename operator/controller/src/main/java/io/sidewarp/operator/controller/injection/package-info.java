// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Which pods get a sidecar, and how. {@link io.sidewarp.operator.controller.injection.InjectionRules} decides,
 * {@link io.sidewarp.operator.controller.injection.PodMutator} changes the pod; both are pure functions. The webhook in front
 * of them only looks up what they need.
 */
@NullMarked
package io.sidewarp.operator.controller.injection;

import org.jspecify.annotations.NullMarked;
