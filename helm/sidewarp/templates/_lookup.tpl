{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/*
Looks up an object of the cluster, or {}: (dict "apiVersion" "v1" "kind" "Namespace" "name" NAME). `helm template` finds none.
*/}}
{{- define "sidewarp.lookup" -}}
{{ lookup .apiVersion .kind "" .name | toYaml }}
{{- end }}
