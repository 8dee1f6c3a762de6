{{/* The pod of a command that runs once: topics, reset, the test. Contexts: root, component, args,
topics (the ConfigMap's name), account (of the service account). It ends or fails; a Job tries again. */}}

{{- define "urltree.command.labels" -}}
{{ include "urltree.selector" . }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- with .root.Values.pods.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "urltree.command.spec" -}}
{{- $knobs := .root.Values.pods -}}
restartPolicy: Never
{{- with .account }}
serviceAccountName: {{ . }}
{{- end }}
{{ include "urltree.pod.security" .root }}
{{- with include "urltree.pod.scheduling" (dict "root" .root "knobs" $knobs) | trim }}
{{ . }}
{{- end }}
containers:
  - name: {{ .component }}
    image: {{ include "urltree.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    command: [python, -m, agents]
    args: {{- toYaml .args | nindent 6 }}
    env:
      {{- include "urltree.pod.env" .root | nindent 6 }}
      {{- with $knobs.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    resources: {{- toYaml .root.Values.commands.resources | nindent 6 }}
    securityContext: {{- include "urltree.pod.containerSecurity" . | nindent 6 }}
    volumeMounts:
      {{- include "urltree.pod.mounts" .root | nindent 6 }}
      {{- with $knobs.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  {{- include "urltree.pod.volumes" (dict "root" .root "topics" .topics) | nindent 2 }}
  - name: data
    emptyDir:
      sizeLimit: 64Mi
  {{- with $knobs.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
