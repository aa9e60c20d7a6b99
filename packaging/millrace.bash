# Completion for bash, made from the command table by "millrace completion bash".

# Names are anybody's: they are quoted, and never evaluated (as compgen -W does).
_millrace_names()
{
    local name quoted
    COMPREPLY=()
    while IFS= read -r name; do
        printf -v quoted %q "$name"
        [[ $name == "$2"* || $quoted == "$2"* ]] && COMPREPLY+=("$quoted")
    done < <("${COMP_WORDS[0]}" complete "$1" 2>/dev/null)
}

_millrace_offer()
{
    case $1 in
        none) COMPREPLY=() ;;
        file) mapfile -t COMPREPLY < <(compgen -f -- "$2"); compopt -o filenames 2>/dev/null ;;
        topic|database|table|relation|job|index|version) _millrace_names "$1" "$2" ;;
        setting) mapfile -t COMPREPLY < <(compgen -W "workers helpers batch_min batch_max batch_bytes flush_interval request_timeout bytes load_batch loads read_window fan_out_share high_water_mark failures failure_window reset_after purge drain drain_timeout drain_cancel_timeout connections " -- "$2") ;;
        settings) mapfile -t COMPREPLY < <(compgen -W "listen= metrics.listen= data= socket= store= store_password_file= secret_file= store_tls.ca_file= store_tls.cert_file= store_tls.key_file= store_public_key_file= store_tls.verify= coordination= coordination_auth_file= coordination_tls.ca_file= coordination_tls.cert_file= coordination_tls.key_file= web_tls.cert_file= web_tls.key_file= search.url= search.user= search.password= search.password_file= search.password_env= search.api_key_file= search.api_key_env= search.aws_region= search.aws_service= search.aws_key_id= search.aws_credentials_file= search.aws_secret= search.aws_secret_file= search.aws_secret_env= search.aws_session_token_file= search.aws_session_token_env= search.ca_file= search.cert_file= search.key_file= search.verify= search.compress= search.timeout= search.sniff= search.sniff_hosts= search.sniff_interval= search.check_every= delivery.workers= delivery.helpers= delivery.batch_min= delivery.batch_max= delivery.batch_bytes= delivery.flush_interval= delivery.request_timeout= delivery.bytes= delivery.load_batch= delivery.loads= delivery.read_window= delivery.fan_out_share= delivery.high_water_mark= delivery.failures= delivery.failure_window= delivery.reset_after= delivery.purge= delivery.drain= delivery.drain_timeout= delivery.drain_cancel_timeout= delivery.connections= dead_letters.max= dead_letters.old_after= index.retire_after= source.event_max= log.level= log.format= " -- "$2"); compopt -o nospace 2>/dev/null ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
    esac
}

_millrace()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i word value=""
    local name="" words="" options="" kind=none skip=""
    COMPREPLY=()
    case $prev in
        --config|-c) value="file" ;;
        --socket) value="file" ;;
        --set) value="settings" ;;
        --output|-o) value="table json yaml" ;;
        --table) value="none" ;;
        --search) value="none" ;;
        --password-file) value="file" ;;
        --ca-file) value="file" ;;
        --directory|-C) value="file" ;;
        --data) value="file" ;;
        --reason) value="none" ;;
        --rate) value="none" ;;
        --chunk) value="none" ;;
        --accept-dead-letters) value="none" ;;
        --topic) value="topic" ;;
        --index) value="version" ;;
        --limit) value="none" ;;
        --after) value="none" ;;
        --format) value="json none" ;;
        --from) value="none" ;;
        --to) value="none" ;;
        --from-time) value="none" ;;
        --to-time) value="none" ;;
        --gtid) value="none" ;;
        --worker) value="none" ;;
        --timeout) value="none" ;;
    esac
    if [[ -n $value ]]; then _millrace_offer "$value" "$cur"; return; fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $skip ]]; then skip=; continue; fi
        case $word in
            -c|--config|--socket|--set|-o|--output) skip=1; continue ;;
            -*) continue ;;
        esac
        if [[ -z $name ]]; then name=$word
        elif [[ -n $words && " $words " == *" $word "* ]]; then name="$name $word"
        else break; fi
        words=""
        case $name in
        "topic") words="list get delete reset pause resume" ;;
        "database") words="list get delete" ;;
        "table") words="list get delete columns" ;;
        "table columns") words="generate" ;;
        "relation") words="list" ;;
        "version") words="list" ;;
        "job") words="list get" ;;
        "log") words="list" ;;
        "index") words="create list set cutover pause resume reset delete" ;;
        "dead-letter") words="list show replay discard" ;;
        "binlog") words="decode inspect" ;;
        "config") words="show delivery" ;;
        "config delivery") words="get set" ;;
        esac
    done
    if [[ -z $name ]]; then words="init run apply export status doctor explain mapping topic database table relation version job log index dead-letter binlog drain config version help completion"; fi
    case $name in
        "init") options="--table --search --password-file --tls --ca-file --directory --data" kind=none ;;
        "run") options="" kind=none ;;
        "apply") options="--dry-run --prune --take-alias --yes" kind=file ;;
        "export") options="" kind=none ;;
        "status") options="--check --watch" kind=none ;;
        "doctor") options="" kind=none ;;
        "explain") options="" kind=table ;;
        "mapping") options="" kind=table ;;
        "topic list") options="" kind=none ;;
        "topic get") options="" kind=topic ;;
        "topic delete") options="--yes" kind=topic ;;
        "topic reset") options="--yes" kind=topic ;;
        "topic pause") options="--reason" kind=topic ;;
        "topic resume") options="" kind=topic ;;
        "database list") options="" kind=none ;;
        "database get") options="" kind=database ;;
        "database delete") options="--yes" kind=database ;;
        "table list") options="" kind=none ;;
        "table get") options="" kind=table ;;
        "table delete") options="--yes" kind=table ;;
        "table columns generate") options="" kind=none ;;
        "relation list") options="" kind=table ;;
        "version list") options="" kind=index ;;
        "job list") options="" kind=none ;;
        "job get") options="" kind=job ;;
        "log list") options="" kind=table ;;
        "index create") options="--rate --chunk --take-index --take-alias --wait --no-wait" kind=table ;;
        "index list") options="" kind=index ;;
        "index set") options="--rate" kind=table ;;
        "index cutover") options="--accept-dead-letters --wait --no-wait" kind=table ;;
        "index pause") options="--reason" kind=table ;;
        "index resume") options="" kind=table ;;
        "index reset") options="--yes" kind=table ;;
        "index delete") options="--yes" kind=table ;;
        "dead-letter list") options="--topic --table --index --reason --limit --after" kind=none ;;
        "dead-letter show") options="" kind=none ;;
        "dead-letter replay") options="--topic --table --index --reason --all --yes" kind=none ;;
        "dead-letter discard") options="--topic --table --index --reason --all --yes" kind=none ;;
        "binlog decode") options="--format --count --events --table --topic --from --to --from-time --to-time --gtid" kind=file ;;
        "binlog inspect") options="--table --topic --from --to --from-time --to-time --gtid" kind=file ;;
        "drain") options="--worker --timeout --cancel" kind=none ;;
        "config show") options="--origin" kind=none ;;
        "config delivery get") options="" kind=setting ;;
        "config delivery set") options="--reset" kind=setting ;;
        "version") options="" kind=none ;;
        "help") options="" kind=command ;;
        "completion") options="" kind=bash ;;
    esac
    if [[ $cur == -* ]]; then
        _millrace_offer "$options --config --socket --set --output --help --version" "$cur"
    elif [[ -n $words ]]; then _millrace_offer "$words" "$cur"
    elif [[ $kind == command ]]; then _millrace_offer "init run apply export status doctor explain mapping topic database table relation version job log index dead-letter binlog drain config version help completion" "$cur"
    else _millrace_offer "$kind" "$cur"; fi
}
complete -F _millrace millrace
