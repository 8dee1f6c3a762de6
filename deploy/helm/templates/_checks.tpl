{{/* What the schema cannot see. Every problem is said at once, each with what to do. */}}

{{- define "urltree.checks" -}}
{{- $problems := list -}}
{{- range list "kafka" "image" "stages" "autoscaling" "topics" "reset" "pods" "monitoring" -}}
{{- range include (printf "urltree.checks.%s" .) $ | splitList "\n" -}}
{{- if trim . }}{{ $problems = append $problems (trim .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n\n  - %s\n" (join "\n  - " $problems)) -}}
{{- end -}}
{{- end -}}

{{- define "urltree.checks.kafka" -}}
{{- with .Values.kafka }}
{{- $sasl := .sasl }}
{{- if not .brokers }}
kafka.brokers is empty: name at least one broker, such as kafka:9092
{{- end }}
{{- if hasPrefix "SASL" .security }}
{{- if eq $sasl.mechanism "OAUTHBEARER" }}
{{- if not (and $sasl.oauth.tokenUrl $sasl.oauth.clientId $sasl.oauth.clientSecret.secret) }}
kafka.sasl.mechanism is OAUTHBEARER: set kafka.sasl.oauth.tokenUrl, .clientId and .clientSecret.secret, the name of a Secret
{{- end }}
{{- else }}
{{- if not $sasl.username }}
kafka.security is {{ .security }}: set kafka.sasl.username
{{- end }}
{{- if not $sasl.password.secret }}
kafka.security is {{ .security }}: set kafka.sasl.password.secret to the name of the Secret that holds the password
{{- end }}
{{- end }}
{{- else if or $sasl.username $sasl.password.secret $sasl.oauth.tokenUrl }}
kafka.sasl is set, but kafka.security is {{ .security }} and nobody would log in: set it to SASL_SSL
{{- end }}
{{- if and (not (hasSuffix "SSL" .security)) (or .tls.ca.secret .tls.certificate.secret) }}
kafka.tls is set, but kafka.security is {{ .security }} and nothing would be encrypted: set it to SSL or SASL_SSL
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.image" -}}
{{- if and .Values.image.tag .Values.image.digest }}
image.tag and image.digest are both set: leave tag empty, the digest alone says what runs
{{- end }}
{{- end -}}

{{- define "urltree.checks.stages" -}}
{{- $partitions := include "urltree.topics.partitions" . | int }}
{{- $stages := include "urltree.stages" . | fromJson }}
{{- if not $stages }}
no stage is enabled: set stages.normalize.enabled and stages.extract.enabled
{{- end }}
{{- range $name, $stage := $stages }}
{{- $context := dict "root" $ "name" $name "stage" $stage }}
{{- $settings := include "urltree.settings.merged" $context | fromJson }}
{{- if gt (int $stage.replicas) $partitions }}
stages.{{ $name }}.replicas is {{ int $stage.replicas }}, but topics have {{ $partitions }} partitions and a worker without one does nothing: set it to {{ $partitions }} at most
{{- end }}
{{- if and (has $name (list "poll" "fetch")) (not $settings.contact) }}
stages.{{ $name }} asks sites of others: set settings.contact to an address of mail or web where their owners reach you
{{- end }}
{{ include "urltree.memory.problem" $context }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.autoscaling" -}}
{{- $partitions := include "urltree.topics.partitions" . | int }}
{{- range $name, $stage := include "urltree.stages" . | fromJson }}
{{- $scaling := default dict $stage.autoscaling }}
{{- if and (eq $name "poll") $scaling }}
stages.poll.autoscaling is set, but nothing says when poll has too much to do: remove it, and set stages.poll.replicas
{{- end }}
{{- if hasKey $scaling (ternary "lag" "overdueHosts" (eq $name "fetch")) }}
stages.{{ $name }}.autoscaling knows no {{ ternary "lag" "overdueHosts" (eq $name "fetch") }}: set {{ ternary "overdueHosts" "lag" (eq $name "fetch") }}
{{- end }}
{{- if and $scaling.enabled (ne $name "poll") }}
{{- if gt (int $scaling.maxReplicas) $partitions }}
stages.{{ $name }}.autoscaling.maxReplicas is {{ int $scaling.maxReplicas }}, but topics have {{ $partitions }} partitions: set it to {{ $partitions }} at most
{{- end }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
stages.{{ $name }}.autoscaling.minReplicas is above maxReplicas: lower it to {{ int $scaling.maxReplicas }} or less
{{- end }}
{{- if and (eq $name "fetch") (not $.Values.monitoring.prometheusUrl) }}
stages.fetch.autoscaling asks Prometheus how many hosts are overdue: set monitoring.prometheusUrl
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.topics" -}}
{{- if lt (include "urltree.topics.partitions" . | int) 1 }}
topics.file declares no partitions: begin with the chart's topics.yaml and change that
{{- end }}
{{ include "urltree.checks.repartition" . }}
{{- if and (eq .Values.topics.manage "strimzi") (not .Values.topics.strimzi.cluster) }}
topics.manage is strimzi: set topics.strimzi.cluster to the name of your Kafka resource
{{- end }}
{{- end -}}

{{/* More partitions would send domains to workers that have not their rows, and Strimzi would add
them at once. Only a cluster knows what was; `helm template` does not ask it, the workers do. */}}
{{- define "urltree.checks.repartition" -}}
{{- $now := include "urltree.topics.partitions" . | int }}
{{- with lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-topics" (include "urltree.fullname" .)) }}
{{- $file := dig "data" "topics.yaml" "" . }}
{{- $before := include "urltree.topics.partitionsOf" $file | int }}
{{- if and $before (ne $before $now) }}
topics had {{ $before }} partitions and would have {{ $now }}: they are for good; go back to {{ $before }}, or begin beside it (docs/operations.md, "Repartition")
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.reset" -}}
{{- with .Values.reset.stage }}
{{- $sentence := printf "%s of %s" . $.Release.Name }}
{{- if ne $.Values.reset.confirm $sentence }}
reset.stage is {{ . }}: all that it has learned would be forgotten. If that is meant, set reset.confirm to "{{ $sentence }}"
{{- end }}
{{- if not $.Release.IsUpgrade }}
reset.stage is {{ . }}, but this is no upgrade: there is nothing to forget, remove it
{{- end }}
{{- if not (get $.Values.stages .).enabled }}
reset.stage is {{ . }}, but stages.{{ . }} is not enabled
{{- end }}
{{- else }}
{{- if .Values.reset.confirm }}
reset.confirm is set, but reset.stage is empty: set it, or remove both
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.pods" -}}
{{- range $name, $stage := merge (dict "pods" .Values.pods) (include "urltree.stages" . | fromJson) }}
{{- range default list $stage.extraEnv }}
{{- if hasPrefix "URLTREE_" .name }}
extraEnv has {{ .name }}: write it as a setting, in settings or stages.….settings
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.checks.monitoring" -}}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled }}
monitoring.podMonitor and monitoring.serviceMonitor are both enabled, and every worker would be scraped twice: choose one
{{- end }}
{{- end -}}
