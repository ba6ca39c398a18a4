{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- define "sidewarp.selector" -}}
app.kubernetes.io/name: sidewarp
app.kubernetes.io/component: {{ . }}
{{- end }}

{{/* Labels of a component: (dict "root" $ "component" "controller" "manager" "Helm"). */}}
{{- define "sidewarp.labels" -}}
{{ include "sidewarp.selector" .component }}
app.kubernetes.io/part-of: sidewarp
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .manager | default .root.Release.Service }}
{{- if not .manager }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}
{{- end }}

{{/* Image: (dict "root" $ "image" .Values.controller.image). */}}
{{- define "sidewarp.image" -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "sidewarp.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
Appends the variables of a component's settings to an environment:
(dict "root" $ "component" "controller" "environment" TEXT). API servers refuse a duplicate variable, and cannot name its
origin. Numbers of a values file are floating point numbers, which toJson writes without an exponent.
*/}}
{{- define "sidewarp.withSettings" -}}
{{- .environment }}
{{- range $name, $value := (get .root.Values .component).settings }}
{{- $variable := $name | upper | replace "." "_" | replace "-" "_" }}
{{- if contains (printf "- name: %s\n" $variable) $.environment }}
{{- fail (printf "%s.settings has %s, which the chart sets from another of its values: see values.yaml" $.component $name) }}
{{- end }}
{{- if has $variable (include "sidewarp.fixedVariables" $ | fromJsonArray) }}
{{- fail (printf "%s.settings has %s, which the chart's objects rely on: it cannot be changed" $.component $name) }}
{{- end }}
- name: {{ $variable }}
  value: {{ kindIs "float64" $value | ternary (toJson $value) $value | quote }}
{{- end }}
{{- end }}

{{/* Variables whose defaults other objects of the chart rely on: names, permissions, mounts. */}}
{{- define "sidewarp.fixedVariables" -}}
[
  "SIDEWARP_OPERATOR_NAMESPACE",
  "SIDEWARP_OPERATOR_INSTALLATION",
  "SIDEWARP_OPERATOR_DEPLOYMENT",
  "SIDEWARP_OPERATOR_WEBHOOK_HOST",
  "SIDEWARP_OPERATOR_WEBHOOK_SERVICE",
  "SIDEWARP_OPERATOR_WEBHOOK_CONFIGURATION",
  "SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_SECRET",
  "SIDEWARP_OPERATOR_IDENTITY_HOST",
  "SIDEWARP_OPERATOR_IDENTITY_SERVICE",
  "SIDEWARP_OPERATOR_IDENTITY_SECRET",
  "SIDEWARP_OPERATOR_LEADER_ELECTION_LEASE",
  "SIDEWARP_AGENT_NODE_NAME",
  "SIDEWARP_AGENT_SYSFS_ROOT",
  "SIDEWARP_AGENT_PROC_ROOT",
  "SIDEWARP_AGENT_STATE_DIRECTORY",
  "SIDEWARP_AGENT_CDI_DIRECTORY"
]
{{- end }}

{{/* Environment of the controller and of the clean-up. */}}
{{- define "sidewarp.controllerEnvironment" -}}
{{- $variables := include "sidewarp.controllerVariables" . }}
{{- include "sidewarp.withSettings" (dict "root" . "component" "controller" "environment" $variables) }}
{{- end }}

{{/* The part of the controller's environment that has values of its own. */}}
{{- define "sidewarp.controllerVariables" -}}
{{- $fallbacks := dict "KernelSiw" "KERNEL_SIW" "Software" "SOFTWARE" }}
{{- $fallback := list }}
{{- range .Values.unselectedNodes.fallback }}{{ $fallback = append $fallback (get $fallbacks .) }}{{ end -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: SIDEWARP_OPERATOR_SIDECAR_IMAGE
  value: {{ include "sidewarp.image" (dict "root" . "image" .Values.sidecar.image) | quote }}
- name: SIDEWARP_OPERATOR_RESTORE_TIMEOUT
  value: {{ .Values.controller.restoreTimeout | quote }}
- name: SIDEWARP_OPERATOR_LEADER_ELECTION_DURATION
  value: {{ .Values.controller.leaseDuration | quote }}
- name: SIDEWARP_OPERATOR_WEBHOOK_PORT
  value: {{ .Values.webhook.port | quote }}
- name: SIDEWARP_OPERATOR_WEBHOOK_MANAGE_CERTIFICATE
  value: {{ not .Values.webhook.certManager.enabled | quote }}
- name: SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_VALIDITY
  value: {{ .Values.webhook.certificateValidity | quote }}
{{- with .Values.webhook.url }}
- name: SIDEWARP_OPERATOR_WEBHOOK_URL
  value: {{ . | quote }}
{{- end }}
- name: SIDEWARP_OPERATOR_IDENTITY_ENABLED
  value: {{ .Values.identity.enabled | quote }}
- name: SIDEWARP_OPERATOR_IDENTITY_TRUST_DOMAIN
  value: {{ .Values.identity.trustDomain | quote }}
- name: SIDEWARP_OPERATOR_IDENTITY_PORT
  value: {{ .Values.identity.port | quote }}
- name: SIDEWARP_OPERATOR_IDENTITY_CERTIFICATE_VALIDITY
  value: {{ .Values.identity.certificateValidity | quote }}
{{- with .Values.identity.source }}
- name: SIDEWARP_OPERATOR_IDENTITY_SOURCE
  value: {{ . | quote }}
{{- end }}
- name: SIDEWARP_OPERATOR_UNSELECTED_FALLBACK
  value: {{ join "," $fallback | quote }}
- name: SIDEWARP_OPERATOR_UNSELECTED_SOFTWARE_DEVICES
  value: {{ .Values.unselectedNodes.softwareDevices | quote }}
- name: SIDEWARP_OPERATOR_UNSELECTED_SIW_DEVICES
  value: {{ .Values.unselectedNodes.siwDevices | quote }}
- name: SIDEWARP_OPERATOR_SRIOV_ENABLED
  value: {{ .Values.networks.sriovNetworkOperator.enabled | quote }}
- name: SIDEWARP_OPERATOR_SRIOV_NAMESPACE
  value: {{ .Values.networks.sriovNetworkOperator.namespace | quote }}
- name: SIDEWARP_OPERATOR_SRIOV_RESOURCE_PREFIX
  value: {{ .Values.networks.sriovNetworkOperator.resourcePrefix | quote }}
- name: SIDEWARP_OPERATOR_MULTUS_ENABLED
  value: {{ .Values.networks.multus.enabled | quote }}
- name: SIDEWARP_OPERATOR_MULTUS_NAMESPACE
  value: {{ .Values.networks.multus.namespace | quote }}
- name: QUARKUS_LOG_LEVEL
  value: {{ .Values.controller.logLevel }}
{{- with .Values.telemetry.otlpEndpoint }}
- name: OTEL_SDK_DISABLED
  value: "false"
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- end }}

{{/* "true" on OpenShift, else nothing. */}}
{{- define "sidewarp.onOpenShift" -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" }}true{{ end }}
{{- end }}

{{- define "sidewarp.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "sidewarp.nonRoot" -}}
runAsNonRoot: true
{{- /* OpenShift chooses the user from the range of the namespace. */}}
{{- if not (include "sidewarp.onOpenShift" .) }}
runAsUser: 7471
runAsGroup: 7471
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Removes validation rules from a definition. API servers before 1.25 do not support them. */}}
{{- define "sidewarp.dropRules" -}}
{{- if kindIs "map" . }}
{{- $_ := unset . "x-kubernetes-validations" }}
{{- range $value := . }}{{ include "sidewarp.dropRules" $value }}{{ end }}
{{- else if kindIs "slice" . }}
{{- range $value := . }}{{ include "sidewarp.dropRules" $value }}{{ end }}
{{- end }}
{{- end }}
