#!/bin/sh
# PID 1 of the guest.  What it is to do arrives on the kernel's command line as L_NAME=VALUE; a "+" stands for a space.
#
#   A --a0/r1a-- R1 --r1b/r2a-- R2 [--wire-- R3] --b0-- B
#
# The bottleneck is the egress r1b. Delays are at r2b (towards B) and at r1a (towards A), a pair for each group of
# flows; the group's receiver has an address of its own, 10.3.0.1 the first. ACKs may have a rate at r2a.
export PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tracefs trace /sys/kernel/tracing
mount -t tmpfs tmp /run
mkdir -p /run/netns
for kv in $(cat /proc/cmdline); do
  case $kv in L_*=*) eval "${kv%%=*}='${kv#*=}'" ;; esac
done
exec >"$L_out.log" 2>&1 </dev/null
set -e # a command that fails ends the guest, and the run has no result
echo "guest: $(uname -r) uptime $(cat /proc/uptime)"
echo "guest: $(cat /proc/sys/net/ipv4/tcp_available_congestion_control)"
"$L_dir/lab" seed "${L_seed:-1}"
ip link set lo up
# A guest of this size would limit the windows of all connections together to some 20 MB (tcp_mem, in pages).
echo 1000000 1000000 1000000 >/proc/sys/net/ipv4/tcp_mem

spaces() { echo "$1" | tr + ' '; }
nth() { echo "$1" | cut -d, -f"$2"; }
groups=$(echo "$L_fwd" | tr , '\n' | wc -l)

# Namespaces, links, addresses and routes.
for n in A R1 R2 R3 B; do
  ip netns add $n
  ip netns exec $n ip link set lo up
  ip netns exec $n sh -ec 'echo 1 > /proc/sys/net/ipv4/ip_forward'
done
[ -n "$L_wire" ] && last=R3 || last=R2 # the namespace that holds the link towards B
up() { # device, namespace, address
  ip -n $2 link set $1 mtu $L_mtu gso_max_segs ${L_gso:-1} txqueuelen 10000
  ip -n $2 addr add $3 dev $1
  ip -n $2 link set $1 up
}
link() { # device, namespace, device, namespace, address, address
  ip link add $1 netns $2 type veth peer name $3 netns $4
  up $1 $2 $5
  up $3 $4 $6
}
link a0 A r1a R1 10.1.0.1/24 10.1.0.254/24
link r1b R1 r2a R2 10.2.0.1/24 10.2.0.2/24
link r2b $last b0 B 10.3.0.254/24 10.3.0.1/24
for g in $(seq 2 $groups); do ip -n B addr add 10.3.0.$g/24 dev b0; done
quick=""
[ "$L_qa" = 1 ] && quick="quickack 1"
ip -n A route add default via 10.1.0.254 initcwnd ${L_iw:-10} $quick $(spaces "$L_route")
ip -n B route add default via 10.3.0.254 $quick
ip -n R1 route add 10.3.0.0/24 via 10.2.0.2
if [ -n "$L_wire" ]; then
  "$L_dir/lab" wire $(spaces "$L_wire")
  for x in "R2 w0 10.4.0.1/24" "R3 w1 10.5.0.1/24"; do
    set -- $x
    ip -n $1 link set $2 mtu $L_mtu txqueuelen 10000
    ip -n $1 addr add $3 dev $2
    ip -n $1 link set $2 up
  done
  ip -n R2 route add 10.3.0.0/24 dev w0
  ip -n R3 route add 10.1.0.0/24 dev w1
fi
ip -n R2 route add 10.1.0.0/24 via 10.2.0.1

# Permanent neighbours: ARP would queue behind the delays, and time the SYN out.
neighbour() { # namespace, device, address, namespace and device that have it
  address=$(ip -n $4 -o link show dev $5 | sed 's/.*ether \([^ ]*\).*/\1/')
  ip -n $1 neigh replace $3 lladdr $address dev $2 nud permanent
}
neighbour A a0 10.1.0.254 R1 r1a
neighbour R1 r1a 10.1.0.1 A a0
neighbour R1 r1b 10.2.0.2 R2 r2a
neighbour R2 r2a 10.2.0.1 R1 r1b
for g in $(seq 1 $groups); do neighbour $last r2b 10.3.0.$g B b0; done
neighbour B b0 10.3.0.254 $last r2b

# The bottleneck.
tc -n A qdisc add dev a0 root $(spaces "${L_sndq:-pfifo+limit+10000}")
case "$L_aqm" in
  "" | droptail) tc -n R1 qdisc add dev r1b root netem rate ${L_rate}bit -14 limit $L_buf ;;
  *) # HTB asks the leaf at the start of a transmission.  It counts 14 bytes of Ethernet, so the rate is scaled.
    # Its timer is up to two microseconds late: so much credit keeps the rate, 15 bytes up to 60 Mbit/s.
    rate=$((L_rate * (L_mtu + 14) / L_mtu))
    burst=$((rate / 4000000))
    [ $burst -ge 15 ] || burst=15
    tc -n R1 qdisc add dev r1b root handle 1: htb default 1
    tc -n R1 class add dev r1b parent 1: classid 1:1 htb rate ${rate}bit ceil ${rate}bit \
      burst $burst cburst $burst quantum 1514
    tc -n R1 qdisc add dev r1b parent 1:1 handle 2: $(spaces "$L_aqm")
    ;;
esac
[ -z "$L_back" ] || tc -n R2 qdisc add dev r2a root netem rate ${L_back}bit -14 limit ${L_backbuf:-100000}

# The delays: one netem, or one in a band for each group.
delays() { # namespace, device, delays, which address of a packet is its receiver's, more words
  if [ $groups = 1 ]; then
    tc -n $1 qdisc add dev $2 root netem delay $3 $5 limit 100000
    return
  fi
  tc -n $1 qdisc add dev $2 root handle 1: prio bands $groups priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  for g in $(seq 1 $groups); do
    band=$(printf 1:%x $g)
    tc -n $1 qdisc add dev $2 parent $band netem delay $(nth $3 $g) $5 limit 100000
    tc -n $1 filter add dev $2 parent 1: protocol ip prio 1 u32 match ip $4 10.3.0.$g/32 flowid $band
  done
}
delays $last r2b $L_fwd dst "$(spaces "$L_loss")"
delays R1 r1a $L_rev src "$L_jitter"

# Settings of the hosts.
for n in A B; do
  ip netns exec $n sh -ec "cd /proc/sys/net/ipv4
    echo 0 > ../core/txrehash # else a timeout gives a flow another hash, and another queue, which a router would not
    echo ${L_sack:-1} > tcp_sack; echo ${L_ts:-1} > tcp_timestamps; echo 1 > tcp_no_metrics_save
    echo ${L_rack:-1} > tcp_recovery; echo ${L_tlp:-3} > tcp_early_retrans; echo ${L_frto:-2} > tcp_frto
    echo ${L_dsack:-1} > tcp_dsack; echo ${L_ecn:-0} > tcp_ecn
    echo '4096 ${L_rcvbuf:-2000000} ${L_rcvmost:-67108864}' > tcp_rmem; echo '4096 ${L_sndbuf:-1000000} ${L_sndmost:-67108864}' > tcp_wmem
    for s in $(spaces "$L_sysctl"); do echo \${s#*=} > \${s%%=*}; done"
done
for s in $(spaces "$L_mod"); do echo ${s#*=} > /sys/module/${s%%=*}; done # tcp_cubic/parameters/hystart=0

"$L_dir/lab" run "$L_out" $(spaces "$L_run" | tr '|' '+')
tc -n R1 -s qdisc show dev r1b
tc -n $last -s qdisc show dev r2b
echo "guest: end uptime $(cat /proc/uptime)"
"$L_dir/lab" halt
