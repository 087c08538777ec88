// The screen `billing`.
export default function Screen() {
  return <h1>billing</h1>;
}
