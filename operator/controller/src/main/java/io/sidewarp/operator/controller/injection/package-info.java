// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Injection of sidecars into pods. {@link io.sidewarp.operator.controller.injection.InjectionRules} decides, and
 * {@link io.sidewarp.operator.controller.injection.PodMutator} changes the pod. Both are pure functions. The webhook
 * calls them and only looks up the facts that they need.
 */
@NullMarked
package io.sidewarp.operator.controller.injection;

import org.jspecify.annotations.NullMarked;
