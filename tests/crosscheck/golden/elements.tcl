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

Queue/SimpleIntServ set qlimit0_ 1000000000
Queue/SimpleIntServ set qlimit1_ 1000000000

# a random stream of an element for a run; each new generator takes the next stream
proc stream {run} {
    set generator [new RNG]
    for {set passed 0} {$passed < $run} {incr passed} { $generator next-substream }
    return $generator
}

# error models come before the queue, as after lossmodel
proc lose {name model} {
    global queue loss bin
    $model drop-target $bin
    $model target [expr {[info exists loss($name)] ? $loss($name) : $queue($name)}]
    set loss($name) $model
}

proc lose_packets {name numbers} {
    set model [new ErrorModel/List]
    $model unit pkt
    $model droplist $numbers
    lose $name $model
}

# a period without end: the first packet from the instant on, and no other
proc lose_at {name instant} {
    set model [new ErrorModel/Periodic]
    $model unit time
    $model set offset_ $instant
    $model set period_ 1e18
    lose $name $model
}

proc lose_randomly {name probability run} {
    set model [new ErrorModel]
    set uniform [new RandomVariable/Uniform]
    $uniform use-rng [stream $run]
    $model unit pkt
    $model set rate_ $probability
    $model ranvar $uniform
    lose $name $model
}

proc set_delay {name value} {
    global line delay
    $line($name) set delay_ $value
    set delay($name) $value
}

proc add_source {flow bytes application settings} {
    global datagrams source receiver
    set datagrams($flow) [new Agent/UDP]
    $datagrams($flow) set fid_ $flow
    $datagrams($flow) set packetSize_ $bytes
    set receiver($flow) [new Agent/LossMonitor]
    $receiver($flow) set bytes_ 0
    set source($flow) [new Application/Traffic/$application]
    $source($flow) set packetSize_ $bytes
    foreach {name value} $settings { $source($flow) set $name $value }
    $source($flow) attach-agent $datagrams($flow)
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

add_link 0 1317011.0 0.011 1000000000 SimpleIntServ
add_link 1 1000003.0 0.041 12
lose_at 1 17.5
lose_at 1 3.25
add_link 2 2000003.0 0.042 1000000000
lose_packets 2 {6 7 29}

add_flow 0 Agent/TCP/Newreno Agent/TCPSink {packetSize_ 700 window_ 1000000000 windowInit_ 1.0 windowOption_ 1 precisionReduce_ 0 numdupacks_ 3 singledup_ 0 maxburst_ 0 minrto_ 0.2 maxrto_ 60.0 rtxcur_init_ 3.0 rttvar_exp_ 2 newreno_changes1_ 1} {packetSize_ 40}

add_source 1 700 CBR {rate_ 186666.6666666667}

add_source 2 200 CBR {rate_ 145454.54545454547}

$tcp(0) target $queue(0)
$receiver(0) target $loss(2)
$datagrams(1) target $queue(0)
$datagrams(2) target $queue(2)
route_link 0 [list 0 $loss(1) 1 $receiver(1)]
route_link 1 [list 0 $receiver(0)]
route_link 2 [list 0 $tcp(0) 2 $receiver(2)]

$ns at 0.0 count
$ns at 4.99440001679995 "set_delay 1 0.231"
$ns at 9.494400016799949 "set_delay 1 0.031"
$ns at 10.994400016799949 "set_delay 1 0.041"
$ns at 12.29440001679995 "set_delay 1 0.14100000000000001"
$ns at 13.594400016799948 "set_delay 1 0.24100000000000002"
$ns at 14.894400016799949 "set_delay 1 0.041"
$ns at 16.19440001679995 "set_delay 1 0.14100000000000001"
$ns at 17.49440001679995 "set_delay 1 0.24100000000000002"
$ns at 18.79440001679995 "set_delay 1 0.041"
$ns at 20.094400016799952 "set_delay 1 0.14100000000000001"
$ns at 21.39440001679995 "set_delay 1 0.24100000000000002"
$ns at 22.694400016799953 "set_delay 1 0.041"
$ns at 23.99440001679995 "set_delay 1 0.14100000000000001"
$ns at 25.29440001679995 "set_delay 1 0.24100000000000002"
$ns at 26.594400016799952 "set_delay 1 0.041"
$ns at 27.894400016799953 "set_delay 1 0.14100000000000001"
$ns at 29.19440001679995 "set_delay 1 0.24100000000000002"
$ns at 30.49440001679995 "set_delay 1 0.041"
$ns at 31.79440001679995 "set_delay 1 0.14100000000000001"
$ns at 33.09440001679995 "set_delay 1 0.24100000000000002"
$ns at 34.394400016799956 "set_delay 1 0.041"
$ns at 35.69440001679995 "set_delay 1 0.14100000000000001"
$ns at 0.0 "begin 0 0.1 0.4376630227539828 none"
$ns at 0.5 "$source(1) start"
$ns at 0.0 "$source(2) start"
$ns at 40.0 finish
$ns run
