{{/* Rules of the NetworkPolicies. */}}

{{/* Ports of Kafka: those of the bootstrap brokers, and others that the brokers advertise. */}}
{{- define "urltree.network.kafkaPorts" -}}
{{- $ports := list -}}
{{- range .Values.kafka.brokers }}{{ $ports = append $ports (regexFind "[0-9]+$" . | int) }}{{ end -}}
{{- range .Values.networkPolicy.kafka.ports }}{{ $ports = append $ports (int .) }}{{ end -}}
{{- toJson (uniq $ports) -}}
{{- end -}}

{{- define "urltree.network.egress" -}}
{{- $policy := .root.Values.networkPolicy -}}
- ports: # Kafka
    {{- range include "urltree.network.kafkaPorts" .root | fromJsonArray }}
    - {port: {{ int . }}, protocol: TCP}
    {{- end }}
  {{- with $policy.kafka.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
- ports: # DNS
    {{- range $policy.dns.ports }}
    - {port: {{ int . }}, protocol: UDP}
    - {port: {{ int . }}, protocol: TCP}
    {{- end }}
  {{- with $policy.dns.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if eq .component "fetch" }}
{{ include "urltree.network.web" . }}
{{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The port of the setting `proxy`, a URL. */}}
{{- define "urltree.network.proxyPort" -}}
{{- $port := regexFind ":[0-9]+/?$" . | trimPrefix ":" | trimSuffix "/" -}}
{{- default (ternary "443" "80" (hasPrefix "https:" .)) $port -}}
{{- end -}}

{{/* The web, for `fetch`: the proxy if there is one, and the public internet, unless the proxy gets
every request. `poll` sends no requests to the web. urltree/crawl/web/guard.py refuses the same networks
that are excluded here. In IPv6, only 2000::/3 is allowed. */}}
{{- define "urltree.network.web" -}}
{{- $settings := include "urltree.settings.merged" (dict "root" .root "stage" (get .root.Values.stages .component)) | fromJson -}}
{{- with $settings.proxy }}
- ports: # the proxy
    - {port: {{ include "urltree.network.proxyPort" . }}, protocol: TCP}
  {{- with $.root.Values.networkPolicy.web.proxy }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- if or (not $settings.proxy) $settings.no_proxy }}
- ports: # the web
    {{- range .root.Values.networkPolicy.web.ports }}
    - {port: {{ int . }}, protocol: TCP}
    {{- end }}
  to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 0.0.0.0/8
          - 10.0.0.0/8
          - 100.64.0.0/10 # carrier-grade NAT, some clusters' pods
          - 127.0.0.0/8
          - 169.254.0.0/16 # link-local, metadata of clouds
          - 172.16.0.0/12
          - 192.0.0.0/24
          - 192.0.2.0/24
          - 192.88.99.0/24
          - 192.168.0.0/16
          - 198.18.0.0/15
          - 198.51.100.0/24
          - 203.0.113.0/24
          - 224.0.0.0/4 # multicast
          - 240.0.0.0/4
    - ipBlock:
        cidr: 2000::/3 # excludes ::1, fc00::/7, fe80::/10, ff00::/8, NAT64
        except:
          - 2001::/23
          - 2001:db8::/32
          - 2002::/16
          - 3fff::/20
{{- with $settings.allow_networks }}
    # settings.allow_networks
    {{- range . }}
    - ipBlock: {cidr: {{ . | quote }}}
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "urltree.network.ingress" -}}
- ports:
    - {port: metrics, protocol: TCP}
  {{- with .Values.networkPolicy.metricsFrom }}
  from: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
