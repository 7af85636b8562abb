{{- define "svc.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* What finds the pods of one part: api, worker, migrate or single. */}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "svc.image" -}}
{{- .root.Values.image.repository -}}
{{- if ne .part "single" }}-{{ .part }}{{ end -}}
:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{/* Variables of every container. */}}
{{- define "svc.env" -}}
env:
{{- range $name, $value := .root.Values.config }}
  - name: {{ $name }}
    value: {{ $value | quote }}
{{- end }}
  - name: SVC_DRAIN_DELAY_MS
    value: {{ .root.Values.drainDelayMs | quote }}
  - name: SVC_DRAIN_TIMEOUT_MS
    value: {{ .root.Values.drainTimeoutMs | quote }}
envFrom:
  - secretRef:
      name: {{ required "secret must name a secret with DATABASE_URL and SVC_API_KEYS" .root.Values.secret | quote }}
{{- end -}}

{{/* What every pod has, besides its containers. */}}
{{- define "svc.pod" -}}
automountServiceAccountToken: false
# A service whose name begins with svc would add variables that begin with SVC_, and unknown ones of these are refused.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ div (add .root.Values.drainDelayMs .root.Values.drainTimeoutMs 15000) 1000 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
{{ toYaml . | indent 2 }}
{{- end }}
{{- end -}}

{{- define "svc.security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "svc.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 15
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 5
{{- end -}}
