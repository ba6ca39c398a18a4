{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/*
An object that the cluster has, or {}: (dict "apiVersion" "v1" "kind" "Namespace" "name" NAME). `helm template` sees none.
*/}}
{{- define "sidewarp.lookup" -}}
{{ lookup .apiVersion .kind "" .name | toYaml }}
{{- end }}
