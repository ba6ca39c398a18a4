// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.profile;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileStatus;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.config.Retries;
import io.sidewarp.operator.controller.injection.ProfileRules;
import java.util.List;
import java.util.Optional;

/** Says in the status of a profile whether pods can use it, before one of them is refused. */
@ControllerConfiguration(name = "profile")
@GradualRetry(maxAttempts = Retries.FOR_EVER, maxInterval = Retries.MAX_INTERVAL_MILLIS)
public class ProfileReconciler implements Reconciler<SidecarProfile> {
    private final EventRecorder events;

    public ProfileReconciler(EventRecorder events) {
        this.events = events;
    }

    @Override
    public UpdateControl<SidecarProfile> reconcile(SidecarProfile profile, Context<SidecarProfile> context) {
        Long generation = profile.getMetadata().getGeneration();
        Optional<SidecarProfileStatus> former = Optional.ofNullable(profile.getStatus());
        List<StatusCondition> conditions =
                former.map(SidecarProfileStatus::conditions).orElseGet(List::of);
        Optional<String> wrong = ProfileRules.whatIsWrong(
                Optional.ofNullable(profile.getSpec()).orElseGet(SidecarProfileSpec::defaults));
        SidecarProfileStatus status = new SidecarProfileStatus(
                generation,
                wrong.isPresent()
                        ? StatusCondition.of(conditions, StatusCondition.DEGRADED, "Invalid", wrong.get(), generation)
                        : StatusCondition.of(
                                conditions, StatusCondition.READY, "Valid", "pods can use the profile", generation));
        if (former.isPresent() && former.get().equals(status)) {
            return UpdateControl.noUpdate();
        }
        events.transition(profile, conditions, status.conditions());
        SidecarProfile patch = new SidecarProfile();
        patch.setMetadata(new ObjectMetaBuilder()
                .withNamespace(profile.getMetadata().getNamespace())
                .withName(profile.getMetadata().getName())
                .build());
        patch.setStatus(status);
        return UpdateControl.patchStatus(patch);
    }
}
