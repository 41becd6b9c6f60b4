//! The published case studies Kim01, with our scripts and, if available, with the published ones: both give the
//! verdicts described in the text.

use crate::mac::common::{Session, document, good_medl, good_pedl, printed};
use invigil_lang::pedl::ast::Literal;
use invigil_monitor::mac::Value;

/// The location of both scripts of a case study in the text: lines, and the contents of the first one.
type Printed = [((usize, usize), &'static str); 2];

/// The sessions of a case study: with our scripts, and with the published ones.
fn sessions(
    pedl: &str,
    medl: &str,
    lines: Printed,
    constants: &dyn Fn(&str) -> Option<Literal>,
) -> Vec<Session> {
    let mut scripts = vec![(pedl.to_owned(), medl.to_owned())];
    if let Some(document) = document() {
        let [pedl, medl] = lines.map(|(lines, anchor)| printed(&document, lines, anchor));
        scripts.push((pedl, medl));
    }
    let session = |(pedl, medl): (String, String)| {
        let pedl = good_pedl(&pedl, constants);
        let medl = good_medl(&medl, Some(&pedl));
        Session::new(pedl, medl)
    };
    scripts.into_iter().map(session).collect()
}

const GATE_PEDL: &str = "MonScr Gate
    export event OpenGate, CloseGate
    export condition Gate_Down
    timestamp 100
    monmeth void Control.open(), Control.close()
    monobj int Control.gatePos
    event OpenGate = startM(Control.open())
    event CloseGate = startM(Control.close())
    condition Gate_Down = Control.gatePos == Control.GATE_DOWN
End";

const GATE_MEDL: &str = "ReqSpec Gate
    import event OpenGate, CloseGate
    import condition Gate_Down
    var long lastClose
    condition closing = [CloseGate when !Gate_Down, OpenGate || start(Gate_Down))
    property GateClosing = closing -> currentTime < lastClose + 30000
    CloseGate -> lastClose' := time(CloseGate)
End";

/// The gate is down within 30 seconds after the order to close, unless an order to open comes first.
#[test]
fn gate_controller_script_gives_published_verdicts() {
    let lines = [((969, 984), "MonScr RailroadCrossing"), ((996, 1012), "ReqSpec SafeCrossing")];
    let constants = |name: &str| (name == "Control.GATE_DOWN").then_some(Literal::Int(1));
    // Milliseconds since 1970, as Java counts them: too large for a `float`.
    for begin in [0, 1_700_000_000_000] {
        for mut gate in sessions(GATE_PEDL, GATE_MEDL, lines, &constants) {
            gate.at(begin).set("Control.gatePos", Value::Int(0));
            assert_eq!(gate.reported(), [format!("{begin}: GateClosing true")]);
            // In time.
            gate.at(begin + 1_000).enter("Control.close()", &[]);
            gate.at(begin + 2_000).set("Control.gatePos", Value::Int(2));
            gate.at(begin + 30_900).tick().set("Control.gatePos", Value::Int(1));
            gate.at(begin + 90_000).tick();
            // Opened again, and told to open before the time is over.
            gate.at(begin + 91_000).enter("Control.open()", &[]).set("Control.gatePos", Value::Int(0));
            gate.at(begin + 100_000).enter("Control.close()", &[]);
            gate.at(begin + 129_999).tick().enter("Control.open()", &[]);
            gate.at(begin + 200_000).tick();
            assert_eq!(gate.reported(), [""; 0]);
            // Too late; the violation lasts until the gate is down.
            gate.at(begin + 300_000).enter("Control.close()", &[]);
            gate.at(begin + 329_999).tick();
            assert_eq!(gate.reported(), [""; 0]);
            gate.at(begin + 330_000).tick();
            gate.at(begin + 340_000).tick();
            gate.at(begin + 350_000).set("Control.gatePos", Value::Int(1));
            let expected = [(330_000, false), (350_000, true)];
            assert_eq!(
                gate.reported(),
                expected.map(|(time, truth)| format!("{}: GateClosing {truth}", begin + time))
            );
        }
    }
}

const CROSSING_PEDL: &str = "MonScr
    export event startGD, endGD; export condition IC;
    monobj float RRC.train_x; monobj int RRC.train_length, RRC.cross_x, left <- RRC.cross_length;
    monmeth void Gate.gd(int); monmeth int Gate.gu();
    event startGD = endM(Gate.gd(int)); event endGD = startM(Gate.gu());
    condition IC = !(RRC.train_x + RRC.train_length <= RRC.cross_x || RRC.train_x > RRC.cross_x + left);
end";

const CROSSING_MEDL: &str = "ReqSpec
    import event startGD, endGD; import condition IC;
    property safeRRC = IC => [startGD, endGD);
end";

/// When a train is in the crossing, the gate must be completely down.
#[test]
fn railroad_crossing_script_gives_published_verdicts() {
    let lines = [((2460, 2477), "MonScr RailroadCrossing"), ((2489, 2496), "ReqSpec RailroadCrossing")];
    for mut crossing in sessions(CROSSING_PEDL, CROSSING_MEDL, lines, &|_| None) {
        crossing.set("RRC.cross_x", Value::Int(100)).set("RRC.cross_length", Value::Int(20));
        crossing.set("RRC.train_length", Value::Int(10));
        assert_eq!(crossing.reported(), [""; 0], "nobody knows where the train is");
        crossing.set("RRC.train_x", Value::Float(0.0));
        assert_eq!(crossing.reported(), ["0: safeRRC true"]);
        crossing.at(1).enter("Gate.gd(int)", &[Value::Int(5)]);
        crossing.at(2).leave("Gate.gd(int)", &[Value::Int(5)], Value::Undefined);
        for (time, x) in [(3, 90.0), (4, 90.5), (5, 120.0), (6, 120.5)] {
            crossing.at(time).set("RRC.train_x", Value::Float(x));
        }
        crossing.at(7).enter("Gate.gu()", &[]).leave("Gate.gu()", &[], Value::Int(0));
        assert_eq!(crossing.reported(), [""; 0]);
        // The next train arrives before the gate is down.
        crossing.at(8).set("RRC.train_x", Value::Float(0.0));
        crossing.at(9).enter("Gate.gd(int)", &[Value::Int(5)]);
        crossing.at(10).set("RRC.train_x", Value::Float(90.25));
        crossing.at(11).leave("Gate.gd(int)", &[Value::Int(5)], Value::Undefined);
        assert_eq!(crossing.reported(), ["10: safeRRC false", "11: safeRRC true"]);
    }
}

const CLIENT_PEDL: &str = "MonScr
    export event startPgm, periodStart, conFail, queryResend, oldDataUsed
    monmeth void Client.main(String[]), Client.run()
    monmeth void Client.failConnection(ConnectTry)
    monmeth Object Client.retryGetData(int), Client.processOldData()
    event startPgm = startM(Client.main(String[]))
    event periodStart = startM(Client.run())
    event conFail = startM(Client.failConnection(ConnectTry))
    event queryResend = startM(Client.retryGetData(int))
    event oldDataUsed = startM(Client.processOldData())
End";

/// By the text: old data is used only after three failed connections or four queries.
const CLIENT_MEDL: &str = "ReqSpec
    import event startPgm, periodStart, conFail, queryResend, oldDataUsed
    var long periodTime, lastPeriodStart
    var int numRetries, numConFail
    condition inTime = 900 <= periodTime && periodTime <= 1100
    alarm violatedPeriod = end(inTime)
    alarm wrongFT = oldDataUsed when numRetries < 4 && numConFail < 3
    startPgm -> { periodTime' = 1000; lastPeriodStart' = currentTime - 1000; numRetries' = 0; numConFail' = 0 }
    periodStart -> {
        periodTime' = currentTime - lastPeriodStart; lastPeriodStart' = currentTime; numRetries' = 0; numConFail' = 0
    }
    queryResend -> { numRetries' = numRetries + 1 }
    conFail -> { numConFail' = numConFail + 1 }
End";

#[test]
fn database_client_script_gives_published_verdicts() {
    let lines = [((2571, 2589), "MonScr StockClient"), ((2531, 2556), "ReqSpec StockClient")];
    let mut clients = sessions(CLIENT_PEDL, CLIENT_MEDL, lines, &|_| None);
    for client in &mut clients {
        client.at(5_000).enter("Client.main(String[])", &[]);
        for time in [5_000, 6_000, 7_090, 8_000] {
            client.at(time).enter("Client.run()", &[]);
        }
        assert_eq!(client.reported(), [""; 0]);
        client.at(9_200).enter("Client.run()", &[]);
        assert_eq!(client.reported(), ["9200: violatedPeriod!"], "1200 ms");
        client.at(10_250).enter("Client.run()", &[]);
        client.at(11_000).enter("Client.run()", &[]);
        assert_eq!(client.reported(), ["11000: violatedPeriod!"], "750 ms");
        // Three failures and four queries satisfy all variants, one of each none.
        client.at(12_000).enter("Client.run()", &[]);
        for _ in 0..3 {
            client.enter("Client.failConnection(ConnectTry)", &[]);
        }
        for retry in 0..4 {
            client.enter("Client.retryGetData(int)", &[Value::Int(retry)]);
        }
        client.enter("Client.processOldData()", &[]);
        client.at(13_000).enter("Client.run()", &[]);
        client.enter("Client.failConnection(ConnectTry)", &[]);
        client.enter("Client.retryGetData(int)", &[Value::Int(0)]);
        assert_eq!(client.reported(), [""; 0]);
        client.enter("Client.processOldData()", &[]);
        assert_eq!(client.reported(), ["13000: wrongFT!"]);
        // Only one of the two: the text allows it, the printed script does not.
        client.at(14_000).enter("Client.run()", &[]);
        for _ in 0..3 {
            client.enter("Client.failConnection(ConnectTry)", &[]);
        }
        client.enter("Client.processOldData()", &[]);
    }
    assert_eq!(clients[0].reported(), [""; 0]);
    for client in clients.iter_mut().skip(1) {
        assert_eq!(client.reported(), ["14000: wrongFT!"]);
    }
}

const MAV_PEDL: &str = "MonScr MAV
    export event MAValert, init
    multithread
    monmeth void Console.createMAVs(int)
    monobj double distance <-> MAV.run().distance
    monobj int Air.DIST
    event init = startM(Console.createMAVs(int))
    event MAValert = start(0.25 * Air.DIST < distance && distance < 0.75 * Air.DIST)
End";

const MAV_MEDL: &str = "ReqSpec MAV
    import event init, MAValert
    var int count; var double before, now; var long since
    event endPeriod = time(MAValert) - since > 1000
    alarm NoPattern = start(now' > before' * 1.1)
    init -> { since' = time(init); count' = 0; before' = 0; now' = 0; }
    MAValert -> { count' = count + 1; }
    endPeriod -> { since' = time(endPeriod); before' = now; now' = count; count' = 0; }
End";

/// An alarm is raised when there are significantly more violations of the pattern than in the interval before.
#[test]
fn micro_air_vehicle_script_gives_published_verdicts() {
    let lines = [((2654, 2665), "MonScr MAVpattern"), ((2619, 2641), "ReqSpec HexPattern")];
    for mut vehicles in sessions(MAV_PEDL, MAV_MEDL, lines, &|_| None) {
        vehicles.set("Air.DIST", Value::Int(100)).enter("Console.createMAVs(int)", &[Value::Int(9)]);
        let mut reported = Vec::new();
        // The number of misplaced vehicles in each interval, apart from the one that ends the previous interval.
        for (interval, alerts) in [9, 11, 5, 5, 6, 0, 0].into_iter().enumerate() {
            for alert in 0..=alerts {
                vehicles.at(interval as i64 * 1_100 + alert * 10 + 1);
                vehicles.set("MAV.run().distance", Value::Double(50.0));
                vehicles.set("MAV.run().distance", Value::Double(100.0));
            }
            reported.push(vehicles.reported().len());
        }
        // The count of an interval is reported when the next one starts, with an alert that counts for neither. The
        // counts are 10, 11, 5, 5, 6 and 0: a significant increase are the first ten, and six after five.
        assert_eq!(reported, [0, 1, 0, 0, 0, 1, 0]);
    }
}

const PENDULUM_PEDL: &str = "MonScr Pendulum
    export event finish, ECtoSC, fallDown
    valueabstract
    monobj double aVelocity <- CHARON.simulator.agents.controllers.aVelocity.v,
        cVelocity <- CHARON.simulator.agents.controllers.cVelocity.v,
        angle <- CHARON.simulator.agents.controllers.angle.v,
        position <- CHARON.simulator.agents.controllers.position.v
    monobj String transition <- CHARON.simulator.Simulation.transName
    condition still = -0.01<aVelocity && aVelocity<0.01 && -0.01<cVelocity && cVelocity<0.01
    condition upright = -0.01<angle && angle<0.01
    event finish = still && upright && 0.49<position && position<0.51
    event ECtoSC = start(transition == \"ECtoSC\")
    event fallDown = start(89.99<angle && angle<90.01 || -90.01<angle && angle<-89.99)
End";

const PENDULUM_MEDL: &str = "ReqSpec Pendulum
    import event finish, ECtoSC, fallDown
    alarm fail = fallDown
    finish -> { print \"The cart is there\"; }
    ECtoSC -> { print \"from EC to SC\"; }
End";

#[test]
fn inverted_pendulum_script_gives_published_verdicts() {
    let lines = [((2790, 2824), "MonScr IP"), ((2836, 2868), "ReqSpec IP")];
    for mut pendulum in sessions(PENDULUM_PEDL, PENDULUM_MEDL, lines, &|_| None) {
        let path = |name: &str| format!("CHARON.simulator.agents.controllers.{name}.v");
        for (name, value) in [("aVelocity", 0.0), ("cVelocity", 0.3), ("angle", 5.0), ("position", 0.0)] {
            pendulum.set(&path(name), Value::Double(value));
        }
        assert_eq!(pendulum.reported(), [""; 0]);
        pendulum.set("CHARON.simulator.Simulation.transName", Value::String("ECtoSC"));
        assert!(!pendulum.reported().is_empty(), "something is printed");
        pendulum.set("CHARON.simulator.Simulation.transName", Value::String("nothing"));
        for (name, value) in [("angle", 0.005), ("position", 0.5)] {
            pendulum.set(&path(name), Value::Double(value));
        }
        assert_eq!(pendulum.reported(), [""; 0]);
        pendulum.set(&path("cVelocity"), Value::Double(-0.001));
        assert!(pendulum.reported().iter().any(|line| line.contains("The cart")));
        for angle in [45.0, 90.0, 90.005, 120.0, -90.0] {
            pendulum.set(&path("angle"), Value::Double(angle));
        }
        assert_eq!(pendulum.reported(), ["0: fail!", "0: fail!"]);
    }
}
