set ns [new Simulator]
set clock [$ns set scheduler_]
set changes [open changes.txt w]
set counts [open counts.txt w]
set bin [new Agent/Null]
set traced 1

proc add_link {name rate delay limit {discipline DropTail} {settings ""}} {
    global queue line monitor bin
    set queue($name) [new Queue/$discipline]
    $queue($name) set limit_ $limit
    foreach {setting value} $settings { $queue($name) set $setting $value }
    set line($name) [new DelayLink]
    $line($name) set bandwidth_ $rate
    $line($name) set delay_ $delay
    $queue($name) target $line($name)
    set monitor($name) [new QueueMonitor]
    set counter [new SnoopQueue/Drop]
    $counter set-monitor $monitor($name)
    $counter target $bin
    $queue($name) drop-target $counter
}

# routes: the number of a flow and where its packets go after the link, and so on
proc route_link {name routes} {
    global line
    if {[llength $routes] == 2} {
        $line($name) target [lindex $routes 1]
        return
    }
    set fork [new Classifier/Hash/Fid 32]
    foreach {flow next} $routes {
        $fork install $flow $next
        $fork set-hash 0 0 0 $flow $flow
    }
    $line($name) target $fork
}

proc add_flow {flow agent sink settings sink_settings} {
    global tcp receiver
    set tcp($flow) [new $agent]
    $tcp($flow) set fid_ $flow
    foreach {name value} $settings { $tcp($flow) set $name $value }
    set receiver($flow) [new $sink]
    foreach {name value} $sink_settings { $receiver($flow) set $name $value }
}

# reset draws boot_time_ = uniform * tcpTick_; draw_tick makes it the wanted phase
proc begin {flow tick draw_tick threshold {packets -1}} {
    global tcp traced
    ns-random 12345
    $tcp($flow) set tcpTick_ $draw_tick
    $tcp($flow) reset
    $tcp($flow) set tcpTick_ $tick
    if {$threshold ne "none"} { $tcp($flow) set ssthresh_ $threshold }
    if {$traced} {
        set tracer [new Trace/Var]
        $tracer set callback_ 1
        $tracer proc handle line "record $flow"
        $tcp($flow) trace cwnd_ $tracer
    }
    if {$packets < 0} {
        $tcp($flow) send -1
        return
    }
    $tcp($flow) proc done {} "finished $flow"
    $tcp($flow) advanceby $packets
}

# ns-2 goes on with the timer of a transfer that is over, and sets its window to one packet at each timeout
proc finished {flow} {
    global clock counts over
    set over($flow) 1
    puts $counts "finish $flow [$clock now]"
}

proc record {flow} {
    global clock changes tcp over
    if {[info exists over($flow)]} return
    set agent $tcp($flow)
    puts $changes "$flow [$clock now] [$agent set cwnd_] [$agent set awnd_] [$agent set ssthresh_]"
}

proc count {} {
    global counts tcp receiver monitor
    foreach flow [lsort -integer [array names receiver]] {
        set sent "0 0 0 0 0"
        if {[info exists tcp($flow)]} {
            set agent $tcp($flow)
            set sent "[$agent set ack_] [$agent set ndatapack_] [$agent set nrexmitpack_]\
                [$agent set nrexmit_] [$agent set ncwndcuts_]"
        }
        puts $counts "flow $flow $sent [$receiver($flow) set bytes_]"
    }
    foreach name [lsort -dictionary [array names monitor]] {
        puts $counts "link $name [$monitor($name) set pdrops_]"
    }
}

proc finish {} {
    global changes counts
    count
    close $changes
    close $counts
    exit 0
}

Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set useHeaders_ false
Agent/TCP set windowThresh_ 1.0
Agent/TCP set rttvar_init_ 0
Agent/TCP/Newreno set partial_window_deflation_ 1
Agent/TCP/Sack1 set partial_ack_ false
Agent/TCPSink/DelAck set SYN_immediate_ack_ false
Agent/TCPSink/Sack1/DelAck set SYN_immediate_ack_ false

add_link 0 1234567.0 0.0 1000000000
add_link 1 1000003.0 0.05 20
add_link 2 2000003.0 0.05 1000000000

add_link data0 1e+18 0.1 1000000000
add_link acks0 1e+18 0.1 1000000000
add_flow 0 Agent/TCP/Reno Agent/TCPSink {packetSize_ 512 window_ 1000000000 windowInit_ 2.0 windowOption_ 1 precisionReduce_ 0 numdupacks_ 4 singledup_ 1 maxburst_ 0 minrto_ 0.2 maxrto_ 60.0 rtxcur_init_ 3.0 rttvar_exp_ 2} {packetSize_ 40}

add_flow 1 Agent/TCP Agent/TCPSink/DelAck {packetSize_ 1000 window_ 30 windowInit_ 1.0 windowOption_ 0 precisionReduce_ 0 numdupacks_ 1000000000 singledup_ 0 maxburst_ 0 minrto_ 0.2 maxrto_ 60.0 rtxcur_init_ 3.0 rttvar_exp_ 2} {packetSize_ 40 interval_ 0.2}

$tcp(0) target $queue(0)
$receiver(0) target $queue(acks0)
$tcp(1) target $queue(1)
$receiver(1) target $queue(2)
route_link 0 [list 0 $queue(1)]
route_link 1 [list 0 $queue(data0) 1 $receiver(1)]
route_link data0 [list 0 $receiver(0)]
route_link acks0 [list 0 $queue(2)]
route_link 2 [list 0 $tcp(0) 1 $tcp(1)]

$ns at 20.0 count
$ns at 0.0 "begin 0 0.1 0.4376630227539828 16"
$ns at 1.5 "begin 1 0.1 7.873326240148348e-30 none"
$ns at 200.0 finish
$ns run
