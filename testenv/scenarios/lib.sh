# SPDX-License-Identifier: Apache-2.0
# What every scenario shares: tools that record, counters, quiet moments.
# Runs in the guest, in dash or busybox's ash, after guest/net.
#
# A scenario is a file that defines
#   setup     devices, qdiscs, offloads; exit code 4 says: not on this NIC
#   load      the traffic; uses netperfs
#   teardown  what setup must undo for the next scenario
# and run_scenario does, around the load, with a line in steps for each:
#   setup      the scenario's own
#   ready      every tool of TOOLS is started and says that it records
#   quiet      nothing queued, nothing in flight, nothing sent
#   before     counters read
#   load       netperf runs and ends
#   settle     nothing queued, nothing in flight, nothing sent
#   after      counters read
#   stop-TOOL  every tool is interrupted and waited for
#   teardown
# So what a tool counts and what the counters say are the same packets.
#
# Variables: TOOLS (txtrace, perf, trace-cmd), TXTRACE_BIN,
# TXTRACE_ARGS (more flags of txtrace record), PERF_EVENTS,
# TRACE_CMD_EVENTS, LOAD_SECONDS, SEED.

: "${LOAD_SECONDS:=4}" "${SEED:=1}" "${TOOLS=}" "${TXTRACE_ARGS=}"
: "${PERF_EVENTS:=qdisc:qdisc_dequeue}" "${TRACE_CMD_EVENTS:=qdisc:qdisc_dequeue}"
NETSERVER_PORT=12865
# The flows' ports follow from the seed; each scenario has its own hundred,
# since an earlier one's may still be in TIME_WAIT.
port_base=$((20000 + SEED % 100 * 100))

# --- steps ---------------------------------------------------------------

centiseconds() {
	read -r _up _ </proc/uptime
	echo "${_up%.*}${_up#*.}"
}

# step NAME COMMAND...: run it, note its exit code and seconds.
step() {
	_name=$1
	shift
	_start=$(centiseconds)
	"$@"
	_code=$?
	_took=$(($(centiseconds) - _start))
	printf '%d %d.%02d %s\n' $_code $((_took / 100)) $((_took % 100)) "$SCENARIO/$_name" >>/run/txtrace/steps
	return $_code
}

# --- tools ---------------------------------------------------------------

# A background command of sh starts with SIGINT ignored; tools must not.
interruptible() { exec env --default-signal=INT,QUIT "$@"; }

running() {
	read -r _ _ _state _ 2>/dev/null <"/proc/$1/stat" && [ "$_state" != Z ]
}
gone() { ! running "$1"; }

# Each tool has three functions: start (sets pid), ready (asked again until
# it says yes), and keep (what to do with its files at the end).

start_txtrace() {
	rm -f "$work/txtrace.ready"
	# shellcheck disable=SC2086 # words of flags
	interruptible "$TXTRACE_BIN" record --ready-file "$work/txtrace.ready" \
		-o "$sout/capture.txtrace" $TXTRACE_ARGS >"$sout/record.log" 2>&1 &
	pid=$!
}
ready_txtrace() { [ -e "$work/txtrace.ready" ]; }
keep_txtrace() { :; }

# perf answers on a fifo once its events are enabled.
start_perf() {
	mkfifo "$work/perf.ctl" "$work/perf.ack"
	_events=
	for _e in $PERF_EVENTS; do _events="$_events -e $_e"; done
	# Into memory first: the data of every event through 9p would be load.
	# shellcheck disable=SC2086
	interruptible perf record -a -B -N -m 16M -D -1 $_events -o "$work/perf.data" \
		--control "fifo:$work/perf.ctl,$work/perf.ack" >"$sout/perf.log" 2>&1 &
	pid=$!
	# Opened for both directions, so that neither side waits for the other.
	exec 8<>"$work/perf.ctl" 9<>"$work/perf.ack"
	echo enable >&8
	(head -n 1 <&9 >"$work/perf.answer") &
}
ready_perf() { grep -q ack "$work/perf.answer" 2>/dev/null; }
keep_perf() {
	exec 8<&- 9<&-
	cp "$work/perf.data" "$sout/perf.data"
}

start_trace_cmd() {
	_events=
	for _e in $TRACE_CMD_EVENTS; do _events="$_events -e $_e"; done
	# shellcheck disable=SC2086
	(cd "$work" && interruptible trace-cmd record -b 32768 $_events -o "$work/trace.dat") \
		>"$sout/trace-cmd.log" 2>&1 &
	pid=$!
}
ready_trace_cmd() {
	for _e in $TRACE_CMD_EVENTS; do
		grep -q 1 "/sys/kernel/tracing/events/$(echo "$_e" | tr : /)/enable" || return 1
	done
	# The readers of the buffers are started before the events.
	grep -q 1 /sys/kernel/tracing/tracing_on
}
keep_trace_cmd() { cp "$work/trace.dat" "$sout/trace.dat"; }

func_of() { echo "$1" | tr - _; }

# ready_or_dead: a tool that ended will never be ready.
ready_or_dead() { "ready_$1" || gone "$2"; }

start_tools() {
	started=
	for _tool in $TOOLS; do
		_f=$(func_of "$_tool")
		"start_$_f"
		if wait_for 180 ready_or_dead "$_f" "$pid" && "ready_$_f"; then
			started="$_tool:$pid $started"
			continue
		fi
		if running "$pid"; then
			started="$_tool:$pid $started"
			echo "$SCENARIO: $_tool: not ready after 180 s:"
		else
			wait "$pid"
			echo "$SCENARIO: $_tool: ended with $? before it was ready:"
		fi
		tail -n 3 "$(log_of "$_tool")"
		return 1
	done
}

log_of() {
	case $1 in
	txtrace) echo "$sout/record.log" ;;
	*) echo "$sout/$1.log" ;;
	esac
}

stop_tool() { # TOOL PID
	kill -INT "$2" 2>/dev/null
	if ! wait_for 180 gone "$2"; then
		echo "$SCENARIO: $1: did not end within 180 s of SIGINT"
		kill -KILL "$2"
		wait "$2"
		return 124
	fi
	wait "$2"
	_stopped=$?
	"keep_$(func_of "$1")" || return 1
	case $1:$_stopped in
	# perf ends itself with the signal that stopped it.
	perf:130) return 0 ;;
	esac
	return $_stopped
}

# Last started, first stopped.
stop_tools() {
	_bad=0
	for _s in $started; do
		step "stop-${_s%:*}" stop_tool "${_s%:*}" "${_s#*:}" || _bad=1
	done
	started=
	return $_bad
}

# recorder_memory: hundredths of a second since the boot, VmRSS and VmHWM of
# txtrace in kB, on a line; nothing where it does not record.
recorder_memory() {
	for _s in $started; do
		[ "${_s%:*}" != txtrace ] || awk -v at="$(centiseconds)" '
			/^VmHWM/ { most = $2 }
			/^VmRSS/ { print at, $2, most }' "/proc/${_s#*:}/status"
	done
}

# --- calls that the kernel counts ------------------------------------------

tracing=/sys/kernel/tracing

# probe NAME FUNCTION: count its calls.
probe() {
	echo "p:$1 $2" >>$tracing/kprobe_events && echo 1 >$tracing/events/kprobes/"$1"/enable
}

# unprobe NAME...: keep the counts, in kprobe_profile.txt, and count no more.
unprobe() {
	cat $tracing/kprobe_profile >"$sout/kprobe_profile.txt"
	for _counted; do
		echo 0 >$tracing/events/kprobes/"$_counted"/enable
		echo "-:$_counted" >>$tracing/kprobe_events
	done
}

# --- counters and quiet --------------------------------------------------

# both COMMAND...: for each device with its namespace.
both() {
	"$@" tx "$DEV" || return 1
	[ -z "$PEER" ] || "$@" rx "$PEER"
}

read_counters() { # DIR NAMESPACE DEVICE
	mkdir -p "$1/$2"
	timeout 120 ip netns exec "$2" sh -c '
		cd "$1/$2" || exit 1
		tc -s -j qdisc show dev "$3" >qdisc.json
		tc -s qdisc show dev "$3" >qdisc.txt
		ip -s -s -j -d link show dev "$3" >link.json
		ethtool -S "$3" >ethtool-S.txt 2>/dev/null
		ethtool -k "$3" >ethtool-k.txt 2>/dev/null
		ethtool -d "$3" >ethtool-d.txt 2>/dev/null
		cat /proc/net/snmp >snmp.txt
		cat /proc/net/softnet_stat >softnet_stat.txt
		cd "/sys/class/net/$3/queues" || exit 1
		grep -s . tx-*/byte_queue_limits/* tx-*/tx_timeout >"$1/$2/bql.txt"
		:' sh "$1" "$2" "$3"
}

# still NAMESPACE DEVICE: nothing queued and nothing in flight.
still() {
	timeout 120 ip netns exec "$1" sh -c '
		tc -s qdisc show dev "$1" | grep -Eq "backlog ([1-9]|0b [1-9])" && exit 1
		cat "/sys/class/net/$1/queues/"tx-*/byte_queue_limits/inflight 2>/dev/null | grep -q "[1-9]" && exit 1
		:' sh "$2"
}

sent() { # NAMESPACE DEVICE
	ip netns exec "$1" cat "/sys/class/net/$2/statistics/tx_packets" "/sys/class/net/$2/statistics/rx_packets"
}

# quiet: still, and no packet in 0.2 s, longer than a delayed ACK.
quiet() {
	_n=50
	while [ $_n -gt 0 ]; do
		_before=$(both sent)
		sleep 0.2
		if both still && [ "$_before" = "$(both sent)" ]; then
			return 0
		fi
		_n=$((_n - 1))
	done
	echo "$SCENARIO: not quiet after 10 s:"
	both show_queues
	return 1
}

# root_default: the root qdisc as net_up left it, for the next scenario.
root_default() {
	case $TXTRACE_NIC in
	dummy | veth) tx tc qdisc replace dev "$DEV" root fq_codel ;;
	*) tx tc qdisc del dev "$DEV" root 2>/dev/null || : ;;
	esac
}

show_queues() { ip netns exec "$1" tc -s qdisc show dev "$2"; }

# --- load ----------------------------------------------------------------

# serve NAMESPACE: a netserver, once per boot and namespace.
serve() {
	[ ! -e "/run/netserver.$1" ] || return 0
	ip netns exec "$1" netserver -4 -p $NETSERVER_PORT >/dev/null || return 1
	: >"/run/netserver.$1"
	wait_for 10 ip netns exec "$1" sh -c "ss -Hltn sport = $NETSERVER_PORT | grep -q ."
}

# udp_peer: a netserver for UDP. Nobody is behind a device without a peer:
# the control connection goes over loopback then, and the receiver may
# bind the address that is not there.
udp_peer() {
	if [ -n "$PEER" ]; then
		control=$RX_ADDR
		serve rx
	else
		control=127.0.0.1
		tx sh -c 'echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind' && serve tx
	fi
}

# tcp_peer: a netserver for TCP, which cannot do without a peer.
tcp_peer() {
	control=$RX_ADDR
	[ -n "$PEER" ] || {
		echo "$SCENARIO: nobody is behind $DEV"
		return 4
	}
	serve rx
}

# netperfs COUNT TEST [FLAGS...]: that many at once, for LOAD_SECONDS, or for
# load_bytes each. One that cannot reach its peer would wait for ever. Their
# numbers begin at netperf_from, where another netperfs runs beside.
netperfs() {
	_count=$1 _test=$2
	_length=$LOAD_SECONDS _limit=$((LOAD_SECONDS + 60))
	[ -z "${load_bytes-}" ] || _length=-$load_bytes _limit=300
	shift 2
	_pids=
	_i=${netperf_from:-0}
	_count=$((_count + _i))
	while [ $_i -lt "$_count" ]; do
		_port=$((port_base + _i))
		timeout -k 2 $_limit ip netns exec tx netperf -4 -P 0 -H $control -p $NETSERVER_PORT \
			-l "$_length" -t "$_test" -- -H $RX_ADDR -P $_port,$_port "$@" >"$sout/netperf-$_i.txt" 2>&1 &
		_pids="$_pids $!"
		_i=$((_i + 1))
	done
	_failed=0
	for _p in $_pids; do
		wait "$_p" || _failed=$?
	done
	[ $_failed = 0 ] || {
		echo "$SCENARIO: netperf: exit code $_failed:"
		tail -qn 2 "$sout"/netperf-*.txt
	}
	return $_failed
}

# --- a scenario ----------------------------------------------------------

# run_scenario NAME DIR: in a shell of its own, so that what a scenario
# defines stays with it. 0, 4 for not on this NIC, or 1.
run_scenario() (
	SCENARIO=$1 sout=$2
	work=/tmp/$SCENARIO
	mkdir -p "$work" "$sout"
	setup() { :; }
	teardown() { :; }
	. "/run/txtrace/scenarios/$SCENARIO"
	step setup setup
	_code=$?
	if [ $_code != 0 ]; then
		teardown
		[ $_code = 4 ] && return 4
		return 1
	fi
	_bad=0
	if step ready start_tools &&
		step quiet quiet &&
		step before both read_counters "$sout/before" &&
		step load load &&
		step settle quiet &&
		step after both read_counters "$sout/after"; then
		:
	else
		_bad=1
	fi
	stop_tools || _bad=1
	step teardown teardown || _bad=1
	rm -rf "$work"
	return $_bad
)

# run_scenarios NAME...: one after the other; a single one has /out to
# itself.
run_scenarios() {
	_all=0
	for _scenario; do
		_dir=/out
		[ $# = 1 ] || _dir=/out/$_scenario
		run_scenario "$_scenario" "$_dir"
		case $? in
		0 | 4) ;;
		*) _all=1 ;;
		esac
		port_base=$((port_base + 100))
	done
	return $_all
}
