// The device, from its own trace: busy and idle as a bar, then what it was busy with and who waited for it.
import { percent, Section, Table } from "./parts";
import type { Device } from "./payload";

export function DeviceSection({ device }: { device: Device }) {
  return (
    <Section id="device" title="Device" note="From the device's own trace.">
      {device.said ? (
        <>
          <div class="stacked step" role="img" aria-label={device.said}>
            <span class="step-part p0" style={{ width: percent(device.busy), flex: "none" }} />
            <span class="idle grow" />
          </div>
          <p>{device.said}</p>
        </>
      ) : null}
      {device.tables.map((table) => (
        <Table caption={table.title} head={table.head} rows={table.rows} wrap />
      ))}
    </Section>
  );
}
